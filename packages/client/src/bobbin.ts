import type {
  ClientInfo,
  InitializeCapabilities,
  MethodName,
  NotificationParams,
  Params,
  RequestId,
  Result,
} from "@bobbin/protocol";
import type { RequestOptions } from "@bobbin/rpc";
import type { BobbinClient } from "./client.ts";
import {
  ConnectionKeeper,
  type ConnectionStatus,
  type OpenConnection,
} from "./connection/connection-keeper.ts";
import { isLost, isPassing, isRepeatable, withRepeatId } from "./connection/repeatable-request.ts";
import { pause, type RetryDelays, retryDelay } from "./connection/retry-delay.ts";
import { FollowedThread, type FollowOptions } from "./followed-thread.ts";
import { type Notification, threadOf } from "./run-turn.ts";
import { type Answers, OpenQuestions, refusal, THREAD_QUESTIONS } from "./server-request-answers.ts";
import type { PendingRequest } from "./state/thread-state.ts";

/** The options of the constructor of `Bobbin`. `connect` creates them. */
export interface BobbinOptions {
  readonly open: OpenConnection;
  readonly clientInfo: ClientInfo;
  readonly capabilities: InitializeCapabilities;
  readonly answers: Answers;
  /** Questions without a callback wait for `FollowedThread.answer`, and are not refused. */
  readonly answerByHand: boolean;
  readonly delays: RetryDelays;
  /** See `ConnectOptions`. */
  readonly heartbeatMs: number;
}

/** How often a request is repeated after an error that may pass, such as `overloaded`. */
const MAX_PASSING = 5;

type LoadMethod = "thread/start" | "thread/resume" | "thread/fork";

/**
 * A client that keeps a connection to a host. When the connection is lost, the client makes another one, and continues
 * to follow its threads from where they were. Create a client with `connect`.
 *
 * @example
 * const bobbin = await connect("ws://127.0.0.1:4545");
 * const thread = await bobbin.startThread();
 * console.log((await thread.run("Hello!")).text);
 * await bobbin.close();
 */
export class Bobbin {
  readonly #keeper: ConnectionKeeper;
  readonly #delays: RetryDelays;
  readonly #questions: OpenQuestions;
  readonly #answers: Answers;
  readonly #threads = new Map<string, FollowedThread>();
  readonly #listeners = new Set<(notification: Notification) => void>();
  readonly #connectionListeners = new Set<(status: ConnectionStatus) => void>();
  readonly #gapListeners = new Set<(gap: { readonly threadId: string }) => void>();

  /** Use `connect` to create a client. */
  constructor(options: BobbinOptions) {
    const { open, clientInfo, capabilities, answers, answerByHand, delays, heartbeatMs } = options;
    this.#delays = delays;
    this.#answers = answers;
    this.#questions = new OpenQuestions(answers, answerByHand);
    this.#keeper = new ConnectionKeeper({
      open,
      delays,
      heartbeatMs,
      prepare: async (client) => {
        this.#listen(client);
        await client.initialize(clientInfo, capabilities);
        await Promise.all([...this.#threads.values()].map((thread) => this.#follow(client, thread)));
      },
      changed: (status) => {
        if (status.state === "closed") this.#ended(status.error);
        for (const listener of [...this.#connectionListeners]) listener(status);
      },
    });
  }

  /**
   * Makes the first connection. Called by `connect`.
   *
   * @internal
   */
  start(patient: boolean): Promise<void> {
    return this.#keeper.start(patient);
  }

  /**
   * The status of the connection: connecting, connected or closed.
   *
   * @example
   * if (bobbin.connection.state === "connecting") show(`reconnecting: ${bobbin.connection.error?.message}`);
   */
  get connection(): ConnectionStatus {
    return this.#keeper.status;
  }

  /**
   * The threads that this client follows, by id.
   *
   * @example
   * for (const { state } of bobbin.threads.values()) console.log(state.name);
   */
  get threads(): ReadonlyMap<string, FollowedThread> {
    return this.#threads;
  }

  /**
   * Starts a thread and follows it. The thread is started only once, even if the connection is lost meanwhile.
   *
   * @example
   * const thread = await bobbin.startThread({ cwd: "/home/me/project", model: "gpt-5" });
   */
  startThread(params: Params<"thread/start"> = {}): Promise<FollowedThread> {
    return this.#load("thread/start", params);
  }

  /**
   * Loads a thread and follows it. A thread that is followed already is returned as it is.
   *
   * @example
   * const thread = await bobbin.resumeThread(id);
   * console.log(thread.state.turns.length);
   */
  resumeThread(
    threadId: string,
    params: Omit<Params<"thread/resume">, "threadId"> = {},
    options: FollowOptions = {},
  ): Promise<FollowedThread> {
    const known = this.#threads.get(threadId);
    if (known !== undefined) return Promise.resolve(known);
    const whole = new FollowedThread(this, threadId, options).resumeParams();
    return this.#load("thread/resume", { ...whole, ...params, threadId }, options);
  }

  /**
   * Copies a thread, up to a turn if `lastTurnId` is set, and follows the copy.
   *
   * @example
   * const other = await bobbin.forkThread(thread.id, { lastTurnId });
   */
  forkThread(
    threadId: string,
    params: Omit<Params<"thread/fork">, "threadId"> = {},
  ): Promise<FollowedThread> {
    return this.#load("thread/fork", { ...params, threadId });
  }

  /**
   * Calls a method of the host. Waits for the connection. If the connection is lost before the answer, a request that
   * may be repeated is sent again (with `clientUserMessageId` or `idempotencyKey` where needed), and others reject with
   * `NoAnswerError`. An error of the host rejects with `RpcError`.
   *
   * A thread that is started, forked or resumed by its method is followed as by `startThread`, `forkThread` or
   * `resumeThread`, and is in `threads`. A `thread/resume` with `excludeTurns` and no page of turns is not: it has too
   * little for the thread's state.
   *
   * @example
   * const { data } = await bobbin.request("thread/list", { limit: 20 });
   */
  request<M extends MethodName>(
    method: M,
    params: Params<M>,
    options: RequestOptions = {},
  ): Promise<Result<M>> {
    const take = this.#effectOf(method, params);
    if (take === undefined) return this.#request(method, params, options);
    const received = (result: unknown) => {
      take(result);
      options.received?.(result);
    };
    return this.#request(method, params, { ...options, received });
  }

  /**
   * The connection's client, once there is one, for everything that this class does not offer. It changes with each
   * connection.
   *
   * @example
   * const client = await bobbin.connected();
   */
  connected(signal?: AbortSignal): Promise<BobbinClient> {
    return this.#keeper.connected(signal);
  }

  /**
   * Calls `listener` for every notification of the host, on any connection. The returned function stops that.
   *
   * @example
   * const stop = bobbin.onNotification(({ method }) => console.debug(method));
   */
  onNotification(listener: (notification: Notification) => void): () => void {
    return added(this.#listeners, (notification) => listener(notification));
  }

  /**
   * Calls `listener` when the connection is made, lost or closed. The returned function stops that.
   *
   * @example
   * bobbin.onConnection(({ state }) => setBanner(state === "connected" ? null : "Reconnecting …"));
   */
  onConnection(listener: (status: ConnectionStatus) => void): () => void {
    return added(this.#connectionListeners, (status) => listener(status));
  }

  /**
   * Calls `listener` when notifications of a thread were missed and cannot be sent again, such as after a power cut of the
   * host. The thread's `state` is complete nevertheless. The returned function stops that.
   *
   * @example
   * bobbin.onGap(({ threadId }) => console.warn(`notifications of ${threadId} are missing`));
   */
  onGap(listener: (gap: { readonly threadId: string }) => void): () => void {
    return added(this.#gapListeners, (gap) => listener(gap));
  }

  /**
   * Closes the connection for good. Pending requests and turns reject; the turns go on in the host. Idempotent.
   *
   * @example
   * await bobbin.close();
   */
  close(): Promise<void> {
    return this.#keeper.close();
  }

  /**
   * Answers a question. Called by `FollowedThread.answer`.
   *
   * @internal
   */
  settle(id: RequestId, result: unknown): boolean {
    return this.#questions.settle(id, result);
  }

  /**
   * Removes a thread that is not followed any more. Called by `FollowedThread.leave`.
   *
   * @internal
   */
  forget(thread: FollowedThread): void {
    this.#threads.delete(thread.id);
    this.#questions.drop(thread.id);
  }

  async #load<M extends LoadMethod>(
    method: M,
    params: Params<M>,
    options?: FollowOptions,
  ): Promise<FollowedThread> {
    let thread: FollowedThread | undefined;
    // Handled as soon as the reply is read, because notifications of the thread follow the reply at once.
    const received = (reply: unknown) => {
      thread = this.#loaded(reply as Result<LoadMethod>, options);
    };
    await this.#request(method, params, { received });
    return thread!;
  }

  /** What a reply changes in the threads that this client follows; undefined if nothing. */
  #effectOf(method: MethodName, params: unknown): ((result: unknown) => void) | undefined {
    switch (method) {
      case "thread/start":
      case "thread/fork":
      case "thread/resume": {
        const { excludeTurns, initialTurnsPage } = (params ?? {}) as Partial<Params<"thread/resume">>;
        // A reply without turns is not enough for the thread's state.
        if (excludeTurns === true && initialTurnsPage == null) return undefined;
        return (result) => void this.#loaded(result as Result<LoadMethod>);
      }
      case "thread/unsubscribe": {
        const { threadId } = params as Params<"thread/unsubscribe">;
        return () => {
          const thread = this.#threads.get(threadId);
          if (thread === undefined) return;
          this.forget(thread);
          thread.end();
        };
      }
      default:
        return undefined;
    }
  }

  /** Handles a reply that made this connection follow a thread. Returns the thread. */
  #loaded(result: Result<LoadMethod>, options?: FollowOptions): FollowedThread {
    const { id } = result.thread;
    const known = this.#threads.get(id);
    const thread = known ?? new FollowedThread(this, id, options);
    this.#threads.set(id, thread);
    // The host does not repeat running text to a connection that follows the thread already.
    thread.loaded(result, known !== undefined && !known.isUnloaded);
    return thread;
  }

  async #request<M extends MethodName>(
    method: M,
    params: Params<M>,
    options: RequestOptions,
  ): Promise<Result<M>> {
    const sent = withRepeatId(method, params);
    const signal = options.signal ?? new AbortController().signal;
    for (let passing = 0; ; ) {
      const client = await this.connected(signal);
      try {
        return await client.request(method, sent, options);
      } catch (cause) {
        if (isPassing(cause) && ++passing <= MAX_PASSING)
          await pause(retryDelay(passing, this.#delays), signal);
        else if (!isLost(cause) || !isRepeatable(method) || this.connection.state === "closed") throw cause;
      }
    }
  }

  /**
   * Loads a thread that was unloaded while it was followed. Called by `FollowedThread`.
   *
   * @internal
   */
  async reload(thread: FollowedThread): Promise<void> {
    await this.#request("thread/resume", thread.resumeParams(), {
      received: (result) => this.#resumed(thread, result as Result<"thread/resume">),
    });
  }

  /** Follows a thread again on a new connection, from its last cursor. Rejects if the connection is lost. */
  async #follow(client: BobbinClient, thread: FollowedThread): Promise<void> {
    // An unloaded thread is not loaded again only because a connection was lost.
    if (thread.isUnloaded) return;
    try {
      await client.request("thread/resume", thread.resumeParams(), {
        received: (reply) => this.#resumed(thread, reply as Result<"thread/resume">),
      });
    } catch (cause) {
      if (isLost(cause)) throw cause;
      if (isPassing(cause)) void this.#followLater(client, thread);
      else {
        this.forget(thread);
        thread.end(cause);
      }
    }
  }

  /** Handles the reply to the `thread/resume` of a thread that was followed before. */
  #resumed(thread: FollowedThread, result: Result<"thread/resume">): void {
    const hasGap = thread.loaded(result);
    if (result.replay?.gap !== false) this.#questions.drop(thread.id);
    if (hasGap) for (const listener of [...this.#gapListeners]) listener({ threadId: thread.id });
  }

  /** Tries to follow a thread again after a pause, while the connection lasts: another host may still have it loaded. */
  async #followLater(client: BobbinClient, thread: FollowedThread): Promise<void> {
    const over = new AbortController();
    const stop = client.onClosed(() => over.abort());
    await pause(this.#delays.maxMs, over.signal);
    stop();
    // If the connection was lost, the next connection follows all threads again.
    if (!over.signal.aborted && this.#threads.has(thread.id))
      await this.#follow(client, thread).catch(() => {});
  }

  #listen(client: BobbinClient): void {
    client.onNotification((notification) => {
      if (notification.method === "serverRequest/resolved") {
        const { requestId } = notification.params as NotificationParams<"serverRequest/resolved">;
        this.#questions.resolved(requestId);
      }
      const threadId = threadOf(notification);
      if (threadId != null) this.#threads.get(threadId)?.hear(notification);
      for (const listener of [...this.#listeners]) listener(notification);
    });
    for (const method of THREAD_QUESTIONS) {
      client.onRequest(method, (params, { id }) => {
        const request = { id, method, params } as PendingRequest;
        this.#threads.get(params.threadId)?.hear(request);
        return this.#questions.ask(request) as never;
      });
    }
    client.onRequest("account/chatgptAuthTokens/refresh", (params, { id: requestId, signal }) => {
      if (this.#answers.tokenRefresh === undefined) throw refusal("account/chatgptAuthTokens/refresh");
      return this.#answers.tokenRefresh(params, { requestId, signal });
    });
  }

  #ended(error: Error | null): void {
    this.#questions.drop();
    for (const thread of this.#threads.values()) thread.end(error ?? new Error("the client was closed"));
    this.#threads.clear();
  }
}

function added<T>(listeners: Set<T>, entry: T): () => void {
  listeners.add(entry);
  return () => void listeners.delete(entry);
}
