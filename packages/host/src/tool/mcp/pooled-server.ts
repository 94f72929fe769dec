import type { Cancel, Platform } from "../../platform/platform.ts";
import type { ActiveCall, CallRequest, OtherRequest } from "./active-calls.ts";
import type { McpConnection } from "./connection.ts";
import type { McpTarget } from "./connection-target.ts";
import { withMessage } from "./error-message.ts";
import { type McpCallResult, McpError } from "./mcp-interface.ts";
import { type OpenPorts, type OpenServer, type OpenSpec, openServer } from "./open-server.ts";
import { backoffMs } from "./restart-backoff.ts";
import type { Json, ServerOffer } from "./server-offer.ts";
import { CANCELLED, failedUpdate, READY, STARTING, type StartupUpdate } from "./startup-update.ts";
import { untilAborted } from "./wait-with-limit.ts";

/** A thread that has a lease of a pooled server. */
export interface LeaseHolder {
  /** Called with the status of the server's start. */
  started(update: StartupUpdate): void;
}

/** The configuration of a server, and its keys in the pool and the cache. */
export interface PooledSpec extends OpenSpec {
  /** The key in the pool. Servers with equal keys are shared. */
  readonly key: string;
  /** The connection target, or the configuration error that prevents a connection. */
  readonly target: McpTarget | McpError;
  /** How long the server may run without a call. */
  readonly idleMs: number;
}

export interface PooledServerPorts extends OpenPorts {
  readonly platform: OpenPorts["platform"] & Pick<Platform, "ids">;
  /** How long the server keeps running without a lease. */
  lingerMs(): number;
  /** Called when the server is closed. */
  ended(server: PooledServer): void;
}

type State =
  | { readonly kind: "stopped" }
  | {
      readonly kind: "starting";
      readonly done: Promise<void>;
      readonly abort: AbortController;
      /** Ends the delay before the start, because a caller waits. */
      hurry(): void;
    }
  | ({ readonly kind: "connected" } & OpenServer)
  | { readonly kind: "failed"; readonly why: McpError; readonly until: number }
  | { readonly kind: "closed"; readonly done: Promise<void> };

type Connected = Extract<State, { kind: "connected" }>;

/** Delay of a start that no caller waits for. The first turn of the thread is handled before it. */
const START_DELAY_MS = 200;
/** A call waits for the next start attempt only if the attempt is due within this time. */
const MAX_RETRY_WAIT_MS = 5000;
/** Limit on consecutive automatic restarts after failures. Beyond it, only calls and loads start the server. */
const MAX_RETRIES = 6;

/**
 * A server that threads share: it is started on demand, restarted after a crash, and ended when no thread has a
 * lease of it.
 */
export class PooledServer {
  readonly spec: PooledSpec;
  readonly #ports: PooledServerPorts;
  readonly #holders = new Set<LeaseHolder>();
  #state: State = { kind: "stopped" };
  #failures = 0;
  /** Number of callers that wait for the connection or for the server's answer. */
  #callers = 0;
  #cancelTimer: Cancel | undefined;
  #cancelLinger: Cancel | undefined;

  constructor(spec: PooledSpec, ports: PooledServerPorts) {
    this.spec = spec;
    this.#ports = ports;
  }

  get #name(): string {
    return this.spec.tokens.settings.name;
  }

  /** The current offer, or the cached one; undefined if neither is known. */
  get offered(): ServerOffer | undefined {
    return this.#ports.known.of(this.spec.knownAs).offered;
  }

  get state(): State["kind"] {
    return this.#state.kind;
  }

  /** Number of calls and other requests in progress. */
  get calls(): number {
    return this.#state.kind === "connected" ? this.#state.calls.size : 0;
  }

  /** Why the last start failed; undefined unless the server is in the state `failed`. */
  get failure(): McpError | undefined {
    return this.#state.kind === "failed" ? this.#state.why : undefined;
  }

  /** Resolves when the server's tools are known or its start has failed; undefined if there is nothing to wait for. */
  get listed(): Promise<void> | undefined {
    if (this.offered !== undefined || this.#state.kind !== "starting") return undefined;
    this.#state.hurry();
    return this.#state.done;
  }

  /** Takes a lease. Starts the server if its tools are not known, or if it failed and its retry delay has passed. */
  hold(holder: LeaseHolder): void {
    this.#holders.add(holder);
    this.#cancelLinger?.();
    this.#cancelLinger = undefined;
    const state = this.#state;
    if (state.kind === "connected") holder.started(READY);
    if (state.kind === "starting") holder.started(STARTING);
    if (state.kind === "failed") {
      if (this.#isWithin(state.until, 0)) this.start();
      else holder.started(failedUpdate(state.why));
    }
    if (state.kind === "stopped" && this.offered === undefined) this.start({ isUrgent: false });
  }

  release(holder: LeaseHolder): void {
    if (this.#holders.delete(holder) && this.#holders.size === 0) this.#linger();
  }

  /** Ends the server earlier if it has no leases. */
  hurry(): void {
    if (this.#holders.size === 0) this.#linger();
  }

  /** Ends the server after a while, unless there is a caller. The end of its call starts this again. */
  #linger(): void {
    if (this.#state.kind === "closed") return;
    this.#cancelLinger?.();
    this.#cancelLinger = this.#ports.platform.timers.after(this.#ports.lingerMs(), () => {
      if (this.#callers === 0) this.#ports.supervisor.take("ending an MCP server", this.close());
    });
  }

  /** Starts to connect, unless the server is connected or starting. */
  start({ isRetry = false, isUrgent = true } = {}): void {
    if (this.#state.kind !== "stopped" && this.#state.kind !== "failed") return;
    this.#cancelTimer?.();
    const abort = new AbortController();
    if (!isRetry) this.#notifyHolders(STARTING);
    let hurry = (): void => {};
    const begun = new Promise<void>((resolve) => {
      hurry = resolve;
    });
    this.#cancelTimer = isUrgent ? undefined : this.#ports.platform.timers.after(START_DELAY_MS, hurry);
    if (isUrgent) hurry();
    this.#state = { kind: "starting", abort, hurry, done: this.#connect(begun, abort) };
  }

  /** Resolves to the connection, which is opened if needed. Rejects with an `McpError` or the signal's reason. */
  async connected(signal: AbortSignal): Promise<Connected> {
    let hasTried = false;
    for (;;) {
      signal.throwIfAborted();
      const state = this.#state;
      switch (state.kind) {
        case "connected":
          return state;
        case "starting":
          hasTried = true;
          state.hurry();
          await untilAborted(state.done, signal);
          break;
        case "stopped":
          this.start();
          break;
        case "failed":
          if (hasTried || !this.#isWithin(state.until, MAX_RETRY_WAIT_MS)) throw this.#unavailable(state.why);
          await untilAborted(this.#waitUntil(state.until), signal);
          this.start();
          break;
        case "closed":
          throw this.#unavailable(new McpError("unavailable", "it has ended"));
      }
    }
  }

  async call(request: CallRequest): Promise<McpCallResult> {
    const { signal } = request.options;
    const run = (): Promise<McpCallResult> =>
      this.#use(signal, async ({ connection, calls }) => {
        const result = await calls.run(connection, request);
        this.#failures = 0;
        return result;
      });
    return this.#named(() =>
      run().catch((cause: unknown) => {
        if (!(cause instanceof McpError) || cause.kind !== "expired") throw cause;
        return run();
      }),
    );
  }

  /** Sends a request other than a tool call. Connects first if needed. */
  async request(request: OtherRequest): Promise<Json> {
    return this.#named(() =>
      this.#use(request.signal, ({ connection, calls }) => calls.request(connection, request)),
    );
  }

  /** Resolves when the server is connected. Rejects with an `McpError` or the signal's reason. */
  async connect(signal: AbortSignal): Promise<void> {
    await this.#named(() => this.#use(signal, async () => {}));
  }

  /** Uses the connection, which is opened if needed. The server is not ended meanwhile for want of use. */
  async #use<T>(signal: AbortSignal, work: (connected: Connected) => Promise<T>): Promise<T> {
    let connected: Connected | undefined;
    this.#callers++;
    try {
      connected = await this.connected(signal);
      return await work(connected);
    } catch (cause) {
      signal.throwIfAborted();
      if (connected !== undefined) this.#dropIfUseless(connected.connection, cause);
      throw cause;
    } finally {
      this.#callers--;
      this.#startIdleTimer();
      if (this.#holders.size === 0 && this.#callers === 0) this.#linger();
    }
  }

  /** Adds the server's name to errors. */
  async #named<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw cause instanceof McpError ? withMessage(this.#name, cause) : cause;
    }
  }

  /** Reconnects after a login or logout. Calls in progress fail. */
  renew(): void {
    const state = this.#state;
    if (state.kind === "connected")
      this.#drop(state.connection, new McpError("expired", "there was a new login"));
    if (state.kind === "starting") {
      state.abort.abort(new McpError("unavailable", "there was a new login"));
      state.hurry();
    }
    this.#failures = 0;
    if (state.kind === "failed") this.start();
  }

  /**
   * Reconnects a server that waits for a login, if a user has logged in on the command line or through another host.
   */
  retryIfLoggedIn(): void {
    const { auth, supervisor } = this.#ports;
    const { settings, owner } = this.spec.tokens;
    if (this.failure?.kind !== "unauthorized" || auth === null) return;
    const retry = async (): Promise<void> => {
      if ((await auth.status(settings, owner)) === "oAuth" && this.failure?.kind === "unauthorized")
        this.renew();
    };
    supervisor.take("looking for a login to an MCP server", retry());
  }

  /** Ends the server permanently. Calls in progress fail. Idempotent; resolves when the process has ended. */
  close(): Promise<void> {
    const state = this.#state;
    if (state.kind === "closed") return state.done;
    this.#cancelTimer?.();
    this.#cancelLinger?.();
    const done = this.#end(state);
    this.#state = { kind: "closed", done };
    if (state.kind === "starting") this.#notifyHolders(CANCELLED);
    this.#ports.ended(this);
    return done;
  }

  async #end(state: State): Promise<void> {
    if (state.kind === "connected") await state.connection.close();
    if (state.kind === "starting") {
      state.abort.abort(new McpError("unavailable", "it has ended"));
      state.hurry();
      await state.done;
    }
  }

  /** Connects, and sets the state to `connected` or `failed`, unless the server is closed meanwhile. Never rejects. */
  async #connect(begun: Promise<void>, abort: AbortController): Promise<void> {
    const { platform, supervisor } = this.#ports;
    const { target } = this.spec;
    let cancel: Cancel | undefined;
    try {
      await begun;
      abort.signal.throwIfAborted();
      if (target instanceof McpError) throw target;
      cancel = platform.timers.after(target.startupTimeoutMs, () =>
        abort.abort(new McpError("timeout", `it did not start within ${target.startupTimeoutMs / 1000} s`)),
      );
      const opened = await openServer(target, this.spec, this.#ports, abort.signal, (why) => this.#lost(why));
      if (abort.signal.aborted) await opened.connection.close();
      abort.signal.throwIfAborted();
      this.#state = { kind: "connected", ...opened };
      this.#notifyHolders(READY);
      this.#startIdleTimer();
    } catch (cause) {
      if (this.#state.kind === "closed") return;
      const why = abort.signal.aborted ? abort.signal.reason : cause;
      if (!(why instanceof McpError)) supervisor.report(`MCP server ${this.#name}`, why);
      this.#fail(why instanceof McpError ? why : new McpError("unavailable", (why as Error).message));
    } finally {
      cancel?.();
    }
  }

  #fail(why: McpError): void {
    const { platform } = this.#ports;
    const delay = backoffMs(++this.#failures, platform.ids);
    this.#state = { kind: "failed", why, until: platform.clock.monotonic() + delay };
    this.#notifyHolders(failedUpdate(why));
    // Without the program or a login, every further attempt would fail, too.
    const isPermanent = why.kind === "unauthorized" || why.isFinal;
    if (isPermanent || this.#failures > MAX_RETRIES) return;
    this.#cancelTimer?.();
    this.#cancelTimer = platform.timers.after(delay, () => {
      if (this.#holders.size > 0) this.start({ isRetry: true });
    });
  }

  /** Called when the connection ended by itself. */
  #lost(why: McpError): void {
    if (this.#state.kind !== "connected") return;
    // No call was running, so the server is restarted only by the next call.
    if (this.calls === 0) this.#markStopped();
    else this.#fail(why);
  }

  #dropIfUseless(connection: McpConnection<ActiveCall>, cause: unknown): void {
    if (cause instanceof McpError && (cause.kind === "expired" || cause.kind === "unauthorized"))
      this.#drop(connection, cause);
  }

  /** Closes a connection that can no longer be used. */
  #drop(connection: McpConnection<ActiveCall>, why: McpError): void {
    if (this.#state.kind !== "connected" || this.#state.connection !== connection) return;
    if (why.kind === "unauthorized") this.#fail(why);
    else this.#markStopped();
    this.#ports.supervisor.take("closing a connection to an MCP server", connection.close());
  }

  #markStopped(): void {
    this.#cancelTimer?.();
    this.#state = { kind: "stopped" };
  }

  /** Starts the idle timer if there is no caller. */
  #startIdleTimer(): void {
    const state = this.#state;
    if (state.kind !== "connected" || this.#callers > 0) return;
    this.#cancelTimer?.();
    this.#cancelTimer = this.#ports.platform.timers.after(this.spec.idleMs, () => {
      if (this.#state !== state || this.#callers > 0) return;
      this.#markStopped();
      this.#ports.supervisor.take("stopping an idle MCP server", state.connection.close());
    });
  }

  #notifyHolders(update: StartupUpdate): void {
    for (const holder of this.#holders) holder.started(update);
  }

  #isWithin(until: number, ms: number): boolean {
    return until - this.#ports.platform.clock.monotonic() <= ms;
  }

  #waitUntil(until: number): Promise<void> {
    const { clock, timers } = this.#ports.platform;
    return new Promise((resolve) => {
      timers.after(Math.max(0, until - clock.monotonic()), resolve);
    });
  }

  #unavailable(why: McpError): McpError {
    return new McpError(why.kind === "unauthorized" ? "unauthorized" : "unavailable", why.message, {
      cause: why,
    });
  }
}
