import { createHmac } from "node:crypto";
import { join } from "node:path";
import { type CallbackSubject, callbackPath, readCallbackPath, type Sign } from "@bobbin/rap/runtime";
import type { Log } from "../../observe/log.ts";
import type { Supervisor } from "../../observe/supervise.ts";
import type { Cancel, HttpHandler, HttpReply, IncomingRequest, Platform } from "../../platform/platform.ts";
import type { DocumentStore } from "../../store/documents.ts";
import { callbackAddress } from "./callback-forwarder.ts";
import {
  type CallbackKeyAndPorts,
  changeCallbacks,
  newKey,
  readCallbacks,
} from "./callback-key-and-ports.ts";
import type { CallbackSockets } from "./callback-sockets.ts";
import type { RapSettings } from "./rap-settings.ts";

export interface ListenerPorts {
  readonly home: string;
  readonly documents: Pick<DocumentStore, "read" | "replace">;
  readonly settings: RapSettings;
  readonly platform: Pick<Platform, "liveness" | "ids" | "timers">;
  readonly log: Log;
  readonly supervisor: Supervisor;
  /** Handles a request whose URL has a valid signature. */
  take(subject: CallbackSubject, request: IncomingRequest): Promise<HttpReply>;
}

interface Open {
  readonly sign: Sign;
  readonly base: string;
  readonly handle: HttpHandler;
}

/** Interval between attempts to bind ports of issued callback URLs that other programs or hosts hold. */
const TRY_AGAIN_MS = 3000;

/** The range of ports that are chosen for callback URLs. Linux gives programs any port from 32768, others from 49152. */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_767;
const MAX_PORT_TRIES = 20;

/**
 * Listens for the callbacks of tool servers. Callback URLs outlive hosts, so some host of this home must always
 * listen on each issued port. If another host holds the issued port, this host listens on a private port, to which
 * the other host forwards callbacks. When that host has ended, this host takes over the issued port.
 */
export class CallbackListener {
  readonly #ports: ListenerPorts;
  readonly #sockets: CallbackSockets;
  #open: Promise<Open> | undefined;
  #cancelRetry: Cancel | undefined;
  #retrying: Promise<void> | undefined;
  #closed = false;

  constructor(ports: ListenerPorts, sockets: CallbackSockets) {
    this.#ports = ports;
    this.#sockets = sockets;
  }

  /** Starts listening at the first use. After a failure, listening is retried at the next use and by a timer. */
  open(): Promise<Open> {
    this.#open ??= this.#exclusively(() => this.#listen()).catch((cause) => {
      this.#open = undefined;
      this.#retryLater();
      throw cause;
    });
    return this.#open;
  }

  /** The callback URL of one call. */
  async url(subject: CallbackSubject): Promise<string> {
    const { base, sign } = await this.open();
    return base + callbackPath(subject, sign);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelRetry?.();
    await this.#retrying;
    await this.#open?.catch(() => undefined);
    if (this.#sockets.ports.length === 0) return;
    // Under the lock, because an open port without a lock file looks like a port of another program.
    const { closed } = await this.#exclusively(async () => {
      await this.#stopForwarding(this.#sockets.ports);
      return this.#sockets.release();
    });
    await closed;
  }

  /**
   * Runs `work` under a lock that all hosts of this home share, so that no two hosts choose the same port or create
   * two keys.
   */
  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const { platform, home } = this.#ports;
    return platform.liveness.exclusively(join(home, "rap_callbacks.lock"), work);
  }

  async #listen(): Promise<Open> {
    const { settings, platform, documents, log } = this.#ports;
    // The key is stored before it is used, because hosts on other machines may choose one at the same time.
    const known = await changeCallbacks(
      documents,
      (before): CallbackKeyAndPorts => before ?? { key: newKey(platform.ids), ports: [], forwards: [] },
    );
    const sign: Sign = (text) => createHmac("sha256", known.key).update(text).digest("base64url");
    const handle: HttpHandler = (request) => this.#handle(sign, request);
    const port = await this.#issuedPort(known.ports, handle);
    const own = this.#sockets.has(port) ? port : (await this.#sockets.take(0, handle))!;
    const forwards = own === port ? undefined : [...(await this.#liveForwards(known.forwards)), own];
    const stored = await changeCallbacks(documents, (before = known): CallbackKeyAndPorts => {
      const isIssued = before.ports.includes(port);
      if (isIssued && forwards === undefined) return before;
      const ports = isIssued ? before.ports : [...before.ports, port];
      return { ...before, ports, forwards: forwards ?? before.forwards };
    });
    const base = settings.callbackPublicUrl?.replace(/\/+$/, "") ?? callbackAddress(settings, port);
    log.info("listening for tool servers", { on: base, port: own });
    await this.#takeOver(stored.ports, handle);
    return { sign, base, handle };
  }

  /** Removes this host's ports from the list to which other hosts forward callbacks. */
  async #stopForwarding(own: readonly number[]): Promise<void> {
    const { documents, log } = this.#ports;
    const changed = changeCallbacks(documents, (stored) => {
      if (!stored?.forwards.some((port) => own.includes(port))) return stored;
      return { ...stored, forwards: stored.forwards.filter((port) => !own.includes(port)) };
    });
    // Other hosts skip a port that no host has locked.
    await changed.catch((cause) => log.debug("cannot remove the callback ports of this host", { cause }));
  }

  /**
   * The port for callback URLs: a port of this host, or of another host of this home, which forwards callbacks to
   * this one.
   */
  async #issuedPort(stored: readonly number[], handle: HttpHandler): Promise<number> {
    const { callbackListen } = this.#ports.settings;
    for (const port of callbackListen.port === 0 ? stored : [callbackListen.port]) {
      if (this.#sockets.has(port) || (await this.#sockets.take(port, handle)) !== undefined) return port;
      if (await this.#sockets.isHeld(port)) return port;
      this.#ports.log.info("the callback port for tool servers is in use by another program", { port });
    }
    if (callbackListen.port === 0) return this.#newPort(handle);
    throw new Error(
      `the callback port for tool servers, ${callbackListen.port}, is in use by another program`,
    );
  }

  /**
   * Listens on a new port for callback URLs. It is below the range from which systems give a port to any program that
   * asks for one, so that it is still free when the next host of this home wants it.
   */
  async #newPort(handle: HttpHandler): Promise<number> {
    const { ids } = this.#ports.platform;
    for (let tries = 0; tries < MAX_PORT_TRIES; tries++) {
      const port = FIRST_PORT + (ids.integer() % (LAST_PORT - FIRST_PORT + 1));
      const taken = await this.#sockets.take(port, handle).catch(() => undefined);
      if (taken !== undefined) return taken;
    }
    return (await this.#sockets.take(0, handle))!;
  }

  async #liveForwards(forwards: readonly number[]): Promise<readonly number[]> {
    const live: number[] = [];
    for (const port of forwards) {
      if (await this.#sockets.isHeld(port)) live.push(port);
      else await this.#sockets.forget(port);
    }
    return live;
  }

  /** Binds every issued callback port that no host holds. */
  async #takeOver(ports: readonly number[], handle: HttpHandler): Promise<void> {
    const { log } = this.#ports;
    let missing = false;
    for (const port of ports) {
      if (this.#sockets.has(port) || this.#closed) continue;
      const taken = await this.#sockets.take(port, handle).catch((cause) => {
        log.debug("cannot listen on a callback port for tool servers", { port, cause });
        return undefined;
      });
      if (taken === undefined) missing = true;
      else log.info("took over a callback port for tool servers", { port });
    }
    if (missing) this.#retryLater();
  }

  #retryLater(): void {
    this.#cancelRetry?.();
    if (this.#closed) return;
    const { supervisor, platform } = this.#ports;
    this.#cancelRetry = platform.timers.after(TRY_AGAIN_MS, () => {
      this.#retrying = this.#retry();
      supervisor.take("retrying callback ports", this.#retrying);
    });
  }

  async #retry(): Promise<void> {
    const { documents, log } = this.#ports;
    if (this.#open === undefined) {
      await this.open().catch((cause) => log.debug("still cannot listen for tool servers", { cause }));
      return;
    }
    const { handle } = await this.#open;
    await this.#exclusively(async () => {
      const stored = await readCallbacks(documents);
      await this.#takeOver(stored?.ports ?? [], handle);
    });
  }

  async #handle(sign: Sign, request: IncomingRequest): Promise<HttpReply> {
    const subject = readCallbackPath(request.path, sign);
    return subject === undefined ? { status: 404 } : this.#ports.take(subject, request);
  }
}
