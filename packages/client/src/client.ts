import type {
  ClientInfo,
  InitializeCapabilities,
  MethodName,
  NotificationName,
  NotificationParams,
  Params,
  RequestId,
  Result,
  ReviewTarget,
  ServerRequestName,
  ServerRequestParams,
  ServerRequestResult,
  UserInput,
} from "@bobbin/protocol";
import { Peer, type RequestOptions, RpcError } from "@bobbin/rpc";
import { type Notification, runReview, runTurn, type TurnOptions } from "./run-turn.ts";
import type { OpenTransport, Transport } from "./transport.ts";

const METHOD_NOT_FOUND = -32601;

/** What a handler of a server request gets besides its params. */
export interface ServerRequestContext {
  /** The request's id. It stays the same when the host asks again, on another connection or after a restart. */
  readonly id: RequestId;
  /** Aborts when the answer is no longer needed: another client has answered, or the connection ended. */
  readonly signal: AbortSignal;
}

type Listener = (params: never) => void;
type Handler = (params: never, context: ServerRequestContext) => unknown;

/**
 * A connection to a Bobbin host, with typed requests, notifications and server requests.
 *
 * @example
 * const client = await connectWebSocket("ws://127.0.0.1:4545");
 * await client.initialize({ name: "my-app", version: "1.0.0" });
 * const { thread } = await client.request("thread/start", {});
 * for await (const { method, params } of client.runTurn(thread.id, "Hello!")) {
 *   if (method === "item/agentMessage/delta") process.stdout.write(params.delta);
 * }
 * await client.close();
 */
export class BobbinClient {
  readonly #peer: Peer;
  readonly #transport: Transport;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #everyListener = new Set<(notification: Notification) => void>();
  readonly #handlers = new Map<string, Handler>();
  readonly #closeListeners = new Set<(why: string) => void>();
  #closed: string | undefined;

  /**
   * Use `connect`, `connectWebSocket` or `overLink` to create a client. Call this only with a transport of your own.
   *
   * @example
   * const client = new BobbinClient((events) => openMyTransport(events));
   */
  constructor(open: OpenTransport) {
    this.#peer = new Peer((text) => this.#transport.send(text), {
      notification: (method, params) => this.#notify(method, params),
      request: (method, params, signal, id) => this.#serve(method, params, { signal, id }),
    });
    this.#transport = open({
      message: (text) => this.#peer.receive(text),
      closed: (why) => {
        this.#closed = why;
        this.#peer.closed(why);
        for (const listener of this.#closeListeners) guarded(() => listener(why));
        this.#closeListeners.clear();
      },
    });
  }

  /**
   * Performs the handshake: sends `initialize`, then the notification `initialized`. Must be the first call.
   *
   * @example
   * const { userAgent } = await client.initialize(
   *   { name: "my-app", version: "1.0.0" },
   *   { experimentalApi: true },
   * );
   */
  async initialize(
    clientInfo: ClientInfo,
    capabilities?: InitializeCapabilities,
    options?: RequestOptions,
  ): Promise<Result<"initialize">> {
    const params = capabilities === undefined ? { clientInfo } : { clientInfo, capabilities };
    const result = await this.request("initialize", params, options);
    this.#peer.notify("initialized");
    return result;
  }

  /**
   * Calls a method of the host. Rejects with `RpcError` if the host replies with an error, with `NoAnswerError` if the
   * connection ends or the request times out, and with the signal's reason if the signal aborts.
   *
   * @example
   * const { data } = await client.request("model/list", {}, { timeoutMs: 5_000 });
   */
  async request<M extends MethodName>(
    method: M,
    params: Params<M>,
    options?: RequestOptions,
  ): Promise<Result<M>> {
    return (await this.#peer.request(method, params, options)) as Result<M>;
  }

  /**
   * Calls `listener` for every notification of one method. The returned function stops that.
   *
   * @example
   * const stop = client.on("thread/status/changed", ({ threadId, status }) => show(threadId, status.type));
   */
  on<N extends NotificationName>(method: N, listener: (params: NotificationParams<N>) => void): () => void {
    // A new function per call, so that the same listener can be added twice and removed one at a time.
    const entry: Listener = (params) => listener(params);
    const listeners = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, listeners.add(entry));
    return () => void listeners.delete(entry);
  }

  /**
   * Calls `listener` for every notification, including methods that this version does not know. The returned function
   * stops that.
   *
   * @example
   * const stop = client.onNotification(({ method, params }) => console.debug(method, params));
   */
  onNotification(listener: (notification: Notification) => void): () => void {
    const entry = (notification: Notification) => listener(notification);
    this.#everyListener.add(entry);
    return () => void this.#everyListener.delete(entry);
  }

  /**
   * Calls `listener` once with the reason when the connection has ended, on either side. Calls it at once if the
   * connection has already ended. The returned function removes the listener.
   *
   * @example
   * client.onClosed((why) => console.error(`disconnected: ${why}`));
   */
  onClosed(listener: (why: string) => void): () => void {
    const entry = (why: string) => listener(why);
    if (this.#closed === undefined) this.#closeListeners.add(entry);
    else guarded(() => entry(this.#closed!));
    return () => void this.#closeListeners.delete(entry);
  }

  /**
   * Answers the server requests of one method (such as approvals) with the handler's return value. A later handler for
   * the same method replaces the earlier one. Server requests without a handler get the error "Method not found". The
   * returned function removes the handler.
   *
   * @example
   * client.onRequest("item/commandExecution/requestApproval", async ({ command }) => ({
   *   decision: (await confirm(`Run ${command}?`)) ? "accept" : "decline",
   * }));
   */
  onRequest<N extends ServerRequestName>(
    method: N,
    handler: (
      params: ServerRequestParams<N>,
      context: ServerRequestContext,
    ) => ServerRequestResult<N> | Promise<ServerRequestResult<N>>,
  ): () => void {
    const entry: Handler = (params, context) => handler(params, context);
    this.#handlers.set(method, entry);
    return () => {
      if (this.#handlers.get(method) === entry) this.#handlers.delete(method);
    };
  }

  /**
   * Starts a turn and yields its notifications; the last one is `turn/completed`. If `signal` aborts, the turn is
   * interrupted, and `turn/completed` still follows. Leaving the loop early does not stop the turn.
   *
   * @example
   * for await (const { method, params } of client.runTurn(thread.id, "What changed?", { signal })) {
   *   if (method === "turn/completed") console.log(params.turn.status);
   * }
   */
  runTurn(
    threadId: string,
    input: string | readonly UserInput[],
    options: TurnOptions = {},
  ): AsyncGenerator<Notification, void, undefined> {
    return runTurn(this, threadId, input, options);
  }

  /**
   * Starts a review of changes and yields the notifications of its turn, like `runTurn`.
   *
   * @example
   * for await (const { method, params } of client.runReview(thread.id, { type: "uncommittedChanges" })) {
   *   if (method === "item/completed" && params.item.type === "agentMessage") console.log(params.item.text);
   * }
   */
  runReview(
    threadId: string,
    target: ReviewTarget,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<Notification, void, undefined> {
    return runReview(this, threadId, target, signal);
  }

  /**
   * Closes the connection and rejects all pending requests, with `why` as the reason. Idempotent.
   *
   * @example
   * await client.close();
   */
  async close(why = "the client was closed"): Promise<void> {
    this.#peer.closed(why);
    this.#transport.close();
    await new Promise<void>((resolve) => this.onClosed(() => resolve()));
  }

  #notify(method: string, params: unknown): void {
    if (method === "serverRequest/resolved") {
      // The host has an answer, from this or another client, so a handler that still runs can stop.
      this.#peer.withdraw((params as NotificationParams<"serverRequest/resolved">).requestId);
    }
    for (const listener of [...(this.#listeners.get(method) ?? [])]) guarded(() => listener(params as never));
    for (const listener of [...this.#everyListener])
      guarded(() => listener({ method, params } as Notification));
  }

  #serve(method: string, params: unknown, context: ServerRequestContext): unknown {
    const handler = this.#handlers.get(method);
    if (!handler)
      throw new RpcError(METHOD_NOT_FOUND, `Method not found: this client does not answer ${method}`);
    return handler(params as never, context);
  }
}

/** Rethrows a listener's error in a microtask: the program sees it as uncaught, and the other listeners still run. */
function guarded(run: () => void): void {
  try {
    run();
  } catch (cause) {
    queueMicrotask(() => {
      throw cause;
    });
  }
}
