import { createHmac } from "node:crypto";
import { join } from "node:path";
import {
  type CallbackSubject,
  callbackPath,
  discard,
  exchange,
  readCallbackPath,
  type Sign,
} from "@bobbin/rap/runtime";
import { IDEMPOTENCY_KEY } from "@bobbin/rap/wire";
import type { Log } from "../../observe/log.ts";
import type { HttpDoor, IncomingRequest, Platform } from "../../platform/platform.ts";
import { callbacksFile, type RapSettings } from "./settings.ts";

export interface ListenerPorts {
  readonly home: string;
  readonly settings: RapSettings;
  readonly platform: Pick<Platform, "files" | "liveness" | "ids" | "listen" | "http" | "timers">;
  readonly log: Log;
  /** A request for a call that was really made; the status that it is answered with. */
  take(subject: CallbackSubject, request: IncomingRequest): Promise<number>;
}

/** What the home keeps: calls of today are answered after restarts of tomorrow. */
interface Kept {
  readonly key: string;
  /** One for each host that was ever here at once. */
  readonly ports: readonly number[];
}

interface Open {
  readonly sign: Sign;
  readonly base: string;
  readonly door: HttpDoor;
  /** Others may hand over what came to them. */
  readonly announced: (() => Promise<void>) | undefined;
}

/** What was handed over once is not handed on. */
const FORWARDED = "bobbin-forwarded";
const FORWARD_MS = 20_000;

/** Where tool servers post back. */
export class CallbackListener {
  readonly #ports: ListenerPorts;
  #open: Promise<Open> | undefined;

  constructor(ports: ListenerPorts) {
    this.#ports = ports;
  }

  /** Opened when it is first needed; one that could not be opened is tried anew. */
  open(): Promise<Open> {
    this.#open ??= this.#listen().catch((cause) => {
      this.#open = undefined;
      throw cause;
    });
    return this.#open;
  }

  /** The address that is good for one call. */
  async url(subject: CallbackSubject): Promise<string> {
    const { base, sign } = await this.open();
    return base + callbackPath(subject, sign);
  }

  /**
   * Hands a request to the other hosts on this home, one of which has its thread: their ports may have been ours when
   * the call was made. Only to those that are there: what else may listen by now is not to know of it.
   */
  async forward({ path, headers }: IncomingRequest, body: Uint8Array): Promise<number> {
    const { platform, settings } = this.#ports;
    if (headers.get(FORWARDED) !== null) return 503;
    const { door } = await this.open();
    const kept = readKept(await platform.files.readText(this.#path));
    for (const port of settings.callbackListen.port === 0 ? (kept?.ports ?? []) : []) {
      if (port === door.port || !(await platform.liveness.alive(this.#lock(port)))) continue;
      const key = headers.get(IDEMPOTENCY_KEY);
      const sent = await exchange(
        { send: platform.http, after: platform.timers.after },
        new URL(addressOf(settings, port) + path),
        {
          method: "POST",
          headers: {
            "content-type": "application/json",
            [FORWARDED]: "1",
            ...(key !== null && { [IDEMPOTENCY_KEY]: key }),
          },
          body: new TextDecoder().decode(body),
        },
        FORWARD_MS,
        async (answer) => {
          await discard(answer);
          return answer.status;
        },
      );
      if (sent.kind === "answered" && sent.value !== 503) return sent.value;
    }
    return 503;
  }

  async close(): Promise<void> {
    const open = await this.#open?.catch(() => undefined);
    await open?.door.close();
    await open?.announced?.();
  }

  get #path(): string {
    return callbacksFile(this.#ports.home);
  }

  /** Held while a host listens there. */
  #lock(port: number): string {
    return join(this.#ports.home, "live", `callbacks-${port}.lock`);
  }

  async #listen(): Promise<Open> {
    const { home, settings, platform, log } = this.#ports;
    const { files, liveness } = platform;
    const path = this.#path;
    // Two hosts that start at once must not choose the same port, nor two keys.
    return liveness.exclusively(join(home, "rap_callbacks.lock"), async () => {
      const before = readKept(await files.readText(path));
      const key = before?.key ?? this.#newKey();
      const sign: Sign = (text) => createHmac("sha256", key).update(text).digest("base64url");
      const door = await this.#bind(sign, before?.ports ?? []);
      if (before === undefined || (settings.callbackListen.port === 0 && !before.ports.includes(door.port))) {
        const ports = [...(before?.ports ?? []), door.port];
        await files.replaceText(path, `${JSON.stringify({ key, ports } satisfies Kept)}\n`);
      }
      const base = settings.callbackPublicUrl?.replace(/\/+$/, "") ?? addressOf(settings, door.port);
      log.info("listening for tool servers", { on: base, port: door.port });
      // Where that can not be, there is no other host to hand anything over.
      const announced = await liveness.announce(this.#lock(door.port)).catch(() => undefined);
      return { sign, base, door, announced };
    });
  }

  async #bind(sign: Sign, kept: readonly number[]): Promise<HttpDoor> {
    const { settings, platform, log } = this.#ports;
    const { host, port } = settings.callbackListen;
    const handle = (request: IncomingRequest) => this.#handle(sign, request);
    if (port !== 0) return platform.listen({ host, port }, handle);
    for (const one of kept) {
      try {
        return await platform.listen({ host, port: one }, handle);
      } catch (cause) {
        if ((cause as { code?: string }).code !== "EADDRINUSE") throw cause;
        log.info("another program has the port for tool servers", { port: one });
      }
    }
    return platform.listen({ host, port: 0 }, handle);
  }

  async #handle(sign: Sign, request: IncomingRequest): Promise<{ readonly status: number }> {
    const subject = readCallbackPath(request.path, sign);
    if (subject === undefined) return { status: 404 };
    return { status: await this.#ports.take(subject, request) };
  }

  /** More bits than the hash has. */
  #newKey(): string {
    return Array.from({ length: 6 }, () => this.#ports.platform.ids.integer().toString(36)).join("-");
  }
}

function readKept(text: string | undefined): Kept | undefined {
  try {
    const { key, ports } = JSON.parse(text ?? "") as Kept;
    return typeof key === "string" && key.length > 40 && Array.isArray(ports) ? { key, ports } : undefined;
  } catch {
    return undefined;
  }
}

function addressOf({ callbackListen: { host } }: RapSettings, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
