import { createHash } from "node:crypto";
import type { Log } from "../../observe/log.ts";
import type { DocumentStore } from "../../store/documents.ts";
import type { RapSettings, ToolServerSettings } from "./rap-settings.ts";
import { serverKey } from "./server-address.ts";

/** The parts of the host that the store of toolsets needs. */
interface Ports {
  readonly documents: DocumentStore;
  readonly settings: RapSettings;
  readonly log: Log;
}

/** The content of one document in `rap_toolsets`. */
interface StoredToolset {
  /** A hash of the server's configuration. With another configuration, the server may offer other tools. */
  readonly of: string;
  readonly text: string;
}

/**
 * Stores the last toolset of each configured tool server. A thread that outlives its host gets the stored toolset if
 * the server is unreachable at the next start. Servers that threads bring along are not stored, so that threads
 * cannot fill the store.
 */
export class ToolsetStore {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  async read(server: ToolServerSettings): Promise<string | undefined> {
    if (!this.#isConfigured(server)) return undefined;
    try {
      return toolsetIn((await this.#ports.documents.read(nameOf(server)))?.text, server);
    } catch (cause) {
      this.#ports.log.warn("a tool server's stored toolset cannot be read", { server: server.name, cause });
      return undefined;
    }
  }

  /** Stores the toolset of a configured server. A failure to write is only logged. */
  async write(server: ToolServerSettings, text: string): Promise<void> {
    if (!this.#isConfigured(server)) return;
    const { documents, log } = this.#ports;
    const stored: StoredToolset = { of: hashOf(server), text };
    try {
      const known = await documents.read(nameOf(server));
      if (isSame(known?.text, server, text)) return;
      // If another host has replaced the document in between, that toolset is as new as this one.
      await documents.replace(nameOf(server), `${JSON.stringify(stored)}\n`, known?.version);
    } catch (cause) {
      log.warn("a tool server's toolset cannot be stored", { server: server.name, cause });
    }
  }

  #isConfigured(server: ToolServerSettings): boolean {
    return this.#ports.settings.servers.includes(server);
  }
}

/** The toolset in a document, if it is for this configuration of the server. Throws if the document is damaged. */
function toolsetIn(document: string | undefined, server: ToolServerSettings): string | undefined {
  const { of, text } = JSON.parse(document ?? "{}") as StoredToolset;
  return of === hashOf(server) && typeof text === "string" ? text : undefined;
}

function isSame(document: string | undefined, server: ToolServerSettings, text: string): boolean {
  try {
    return toolsetIn(document, server) === text;
  } catch {
    return false;
  }
}

function nameOf({ name }: ToolServerSettings): string {
  const written = encodeURIComponent(name);
  // File names are limited to 255 bytes.
  return `rap_toolsets/${written.length <= 200 ? written : digest(name)}`;
}

function hashOf(server: ToolServerSettings): string {
  return digest(serverKey(server));
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
