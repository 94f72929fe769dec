import { createHmac } from "node:crypto";
import { join } from "node:path";
import {
  type Answer,
  type CallbackSubject,
  callbackPath,
  exchange,
  readAnswer,
  readCallbackPath,
  type Sign,
} from "@bobbin/rap/runtime";
import { IDEMPOTENCY_KEY, parseJson } from "@bobbin/rap/wire";
import type { Log } from "../../observe/log.ts";
import type { Supervisor } from "../../observe/supervise.ts";
import type { Cancel, HttpHandler, HttpReply, IncomingRequest, Platform } from "../../platform/platform.ts";
import { CallbackDoors } from "./callback-doors.ts";
import { type KeptCallbacks, newKey, readCallbacks, writeCallbacks } from "./kept-callbacks.ts";
import { callbacksFile, type RapSettings } from "./settings.ts";

export interface ListenerPorts {
  readonly home: string;
  readonly settings: RapSettings;
  readonly platform: Pick<Platform, "files" | "liveness" | "ids" | "listen" | "http" | "timers">;
  readonly log: Log;
  readonly supervisor: Supervisor;
  /** A request for a call that was really made; what it is answered with. */
  take(subject: CallbackSubject, request: IncomingRequest): Promise<HttpReply>;
}

interface Open {
  readonly sign: Sign;
  readonly base: string;
  readonly handle: HttpHandler;
}

/** What was handed over once is not handed on. */
const FORWARDED = "bobbin-forwarded";
const FORWARD_MS = 20_000;
const MAX_REPLY_BYTES = 64 * 1024;
/** How often a port is tried that calls were made with and that is not ours: its host may be gone by now. */
const TRY_AGAIN_MS = 3000;

/**
 * Where tool servers post back. Callback URLs outlive hosts, so a port that they were given out for is always held by
 * some host on this home: one that finds it held listens at another place, for what is handed to it from there, and
 * takes the port over when its holder is gone.
 */
export class CallbackListener {
  readonly #ports: ListenerPorts;
  readonly #doors: CallbackDoors;
  #open: Promise<Open> | undefined;
  #again: Cancel | undefined;
  #trying: Promise<void> | undefined;
  #closed = false;

  constructor(ports: ListenerPorts) {
    this.#ports = ports;
    this.#doors = new CallbackDoors({ ...ports, host: ports.settings.callbackListen.host });
  }

  /** Opened when it is first needed; one that could not be opened is tried anew, then and by itself. */
  open(): Promise<Open> {
    this.#open ??= this.#exclusively(() => this.#listen()).catch((cause) => {
      this.#open = undefined;
      this.#tryAgain();
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
   * Hands a request to the other hosts on this home, one of which may have its thread: what they answer, or `otherwise`.
   * Only to those that are there: what else may listen by now is not to know of it.
   */
  async forward(
    { path, headers }: IncomingRequest,
    body: Uint8Array,
    otherwise: 410 | 503,
  ): Promise<HttpReply> {
    const { platform, settings } = this.#ports;
    if (headers.get(FORWARDED) !== null) return { status: otherwise };
    const kept = await readCallbacks(platform.files, this.#path);
    let unheard = false;
    for (const port of new Set([...(kept?.ports ?? []), ...(kept?.forwards ?? [])])) {
      if (!(await this.#doors.isHeld(port))) continue;
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
        replyOf,
      );
      if (sent.kind === "answered" && sent.value.status !== otherwise) return sent.value;
      unheard ||= sent.kind !== "answered";
    }
    return { status: unheard ? 503 : otherwise };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#again?.();
    await this.#trying;
    await this.#open?.catch(() => undefined);
    if (this.#doors.ports.length === 0) return;
    // Not while another host looks: to it a port that is open and has no lock is someone else's.
    const { closed } = await this.#exclusively(async () => {
      await this.#leave(this.#doors.ports);
      return this.#doors.release();
    });
    await closed;
  }

  get #path(): string {
    return callbacksFile(this.#ports.home);
  }

  /** Two hosts that start at once must not choose the same port, nor two keys. */
  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const { platform, home } = this.#ports;
    return platform.liveness.exclusively(join(home, "rap_callbacks.lock"), work);
  }

  async #listen(): Promise<Open> {
    const { settings, platform, log } = this.#ports;
    const before = await readCallbacks(platform.files, this.#path);
    const { key, ports, forwards }: KeptCallbacks = before ?? {
      key: newKey(platform.ids),
      ports: [],
      forwards: [],
    };
    const sign: Sign = (text) => createHmac("sha256", key).update(text).digest("base64url");
    const handle: HttpHandler = (request) => this.#handle(sign, request);
    const port = await this.#issued(ports, handle);
    const own = this.#doors.has(port) ? port : (await this.#doors.take(0, handle))!;
    const kept: KeptCallbacks = {
      key,
      ports: ports.includes(port) ? ports : [...ports, port],
      forwards: own === port ? forwards : [...(await this.#held(forwards)), own],
    };
    if (kept.ports !== ports || kept.forwards !== forwards)
      await writeCallbacks(platform.files, this.#path, kept);
    const base = settings.callbackPublicUrl?.replace(/\/+$/, "") ?? addressOf(settings, port);
    log.info("listening for tool servers", { on: base, port: own });
    await this.#takeOver(kept.ports, handle);
    return { sign, base, handle };
  }

  /** Nothing is handed to us any more. */
  async #leave(own: readonly number[]): Promise<void> {
    const { files } = this.#ports.platform;
    const kept = await readCallbacks(files, this.#path);
    const forwards = kept?.forwards.filter((port) => !own.includes(port));
    if (kept === undefined || forwards?.length === kept.forwards.length) return;
    await writeCallbacks(files, this.#path, { ...kept, forwards: forwards! });
  }

  /** The port for callback URLs: ours, or that of another host on this home, which hands over what is for us. */
  async #issued(kept: readonly number[], handle: HttpHandler): Promise<number> {
    const { callbackListen } = this.#ports.settings;
    for (const port of callbackListen.port === 0 ? kept : [callbackListen.port]) {
      if (this.#doors.has(port) || (await this.#doors.take(port, handle)) !== undefined) return port;
      if (await this.#doors.isHeld(port)) return port;
      this.#ports.log.info("another program has the port for tool servers", { port });
    }
    const found = callbackListen.port === 0 ? await this.#doors.take(0, handle) : undefined;
    if (found !== undefined) return found;
    throw new Error(`another program has the port ${callbackListen.port}, which is for tool servers`);
  }

  async #held(forwards: readonly number[]): Promise<readonly number[]> {
    const held: number[] = [];
    for (const port of forwards) {
      if (await this.#doors.isHeld(port)) held.push(port);
      else await this.#doors.forget(port);
    }
    return held;
  }

  /** Listens wherever calls are answered at and nobody listens. */
  async #takeOver(ports: readonly number[], handle: HttpHandler): Promise<void> {
    const { log } = this.#ports;
    let missing = false;
    for (const port of ports) {
      if (this.#doors.has(port) || this.#closed) continue;
      const taken = await this.#doors.take(port, handle).catch((cause) => {
        log.debug("a port for tool servers can not be taken", { port, cause });
        return undefined;
      });
      if (taken === undefined) missing = true;
      else log.info("took over a port for tool servers", { port });
    }
    if (missing) this.#tryAgain();
  }

  #tryAgain(): void {
    this.#again?.();
    if (this.#closed) return;
    const { supervisor, platform } = this.#ports;
    this.#again = platform.timers.after(TRY_AGAIN_MS, () => {
      this.#trying = this.#try();
      supervisor.take("looking for ports", this.#trying);
    });
  }

  async #try(): Promise<void> {
    const { platform, log } = this.#ports;
    if (this.#open === undefined) {
      await this.open().catch((cause) => log.debug("still no place to listen for tool servers", { cause }));
      return;
    }
    const { handle } = await this.#open;
    await this.#exclusively(async () => {
      const kept = await readCallbacks(platform.files, this.#path);
      await this.#takeOver(kept?.ports ?? [], handle);
    });
  }

  async #handle(sign: Sign, request: IncomingRequest): Promise<HttpReply> {
    const subject = readCallbackPath(request.path, sign);
    return subject === undefined ? { status: 404 } : this.#ports.take(subject, request);
  }
}

/** What another host on this home answered. */
async function replyOf(answer: Answer): Promise<HttpReply> {
  const { status } = answer;
  const bytes = await readAnswer(answer, MAX_REPLY_BYTES);
  const json = parseJson(bytes ?? new Uint8Array());
  const says = json.ok ? json.value["error"] : undefined;
  return { status, ...(typeof says === "string" && { says }) };
}

function addressOf({ callbackListen: { host } }: RapSettings, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
