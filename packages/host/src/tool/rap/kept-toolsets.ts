import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Log } from "../../observe/log.ts";
import type { Files } from "../../platform/platform.ts";
import { serverKey } from "./server.ts";
import type { RapSettings, ToolServerSettings } from "./settings.ts";

interface Ports {
  readonly home: string;
  readonly settings: RapSettings;
  readonly files: Files;
  readonly log: Log;
}

/** One file. */
interface Kept {
  /** A hash of how the server was configured: one that is configured otherwise may offer something else. */
  readonly of: string;
  readonly text: string;
}

/**
 * What configured servers said last, for threads that outlive their host: a server that is away when the next one
 * starts is known to them all the same. Servers that a thread brings along are not kept, or whoever starts threads could
 * fill the disk.
 */
export class KeptToolsets {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  async recall(server: ToolServerSettings): Promise<string | undefined> {
    if (!this.#isConfigured(server)) return undefined;
    try {
      const { of, text } = JSON.parse((await this.#ports.files.readText(this.#path(server))) ?? "{}") as Kept;
      return of === hashOf(server) && typeof text === "string" ? text : undefined;
    } catch (cause) {
      this.#ports.log.warn("what a tool server said before can not be read", { server: server.name, cause });
      return undefined;
    }
  }

  /** Does without where it can not be kept. */
  async keep(server: ToolServerSettings, text: string): Promise<void> {
    if (!this.#isConfigured(server)) return;
    if ((await this.recall(server)) === text) return;
    const kept: Kept = { of: hashOf(server), text };
    try {
      await this.#ports.files.replaceText(this.#path(server), `${JSON.stringify(kept)}\n`);
    } catch (cause) {
      this.#ports.log.warn("what a tool server says can not be kept", { server: server.name, cause });
    }
  }

  #isConfigured(server: ToolServerSettings): boolean {
    return this.#ports.settings.servers.includes(server);
  }

  #path({ name }: ToolServerSettings): string {
    const written = encodeURIComponent(name);
    // A file's name has 255 bytes.
    const short = written.length <= 200 ? written : digest(name);
    return join(this.#ports.home, "rap_toolsets", `${short}.json`);
  }
}

function hashOf(server: ToolServerSettings): string {
  return digest(serverKey(server));
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
