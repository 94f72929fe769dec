import type {
  ClientInfo,
  InitializeCapabilities,
  MethodName,
  NotificationName,
  NotificationParams,
  Params,
  Result,
  ServerRequestName,
  ServerRequestParams,
  ServerRequestResult,
  UserInput,
} from "@bobbin/protocol";
import { Peer, type RequestOptions, RpcError } from "@bobbin/rpc";
import { type Notification, runTurn, type TurnOptions } from "./turn.ts";
import type { OpenWire, Wire } from "./wire.ts";

const METHOD_NOT_FOUND = -32601;

export interface ServerRequestContext {
  /** Aborts when the answer is no longer wanted: another client gave one, or the connection ended. */
  readonly signal: AbortSignal;
}

type Listener = (params: never) => void;
type Handler = (params: never, context: ServerRequestContext) => unknown;

/**
 * A connection to a host, with the protocol's types.
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
  readonly #wire: Wire;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #everyListener = new Set<(notification: Notification) => void>();
  readonly #handlers = new Map<string, Handler>();
  readonly #closeListeners = new Set<(why: string) => void>();
  #closed: string | undefined;

  /** See `connectWebSocket` and `overLink`; `open` is for wires of your own. */
  constructor(open: OpenWire) {
    this.#peer = new Peer((text) => this.#wire.send(text), {
      notification: (method, params) => this.#tell(method, params),
      request: (method, params, signal) => this.#serve(method, params, signal),
    });
    this.#wire = open({
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
   * The handshake; comes first. Says `initialized` too.
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
   * Calls a method. Rejects with `RpcError` when the host says no, with `NoAnswerError` when the connection
   * ended or the time was up, and with the signal's reason when that aborted.
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
   * Listens to one kind of notification until the returned function is called.
   *
   * @example
   * const stop = client.on("thread/status/changed", ({ threadId, status }) => show(threadId, status.type));
   */
  on<N extends NotificationName>(method: N, listener: (params: NotificationParams<N>) => void): () => void {
    // Of its own, so that listening twice with one function is two things to stop.
    const entry: Listener = (params) => listener(params);
    const listeners = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, listeners.add(entry));
    return () => void listeners.delete(entry);
  }

  /**
   * Listens to every notification, also of kinds that this version does not know.
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
   * Told once, with the reason, when the connection has ended, whoever ended it; at once if it has already.
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
   * Answers one kind of question of the host: what the handler returns is the answer. One handler a kind, the
   * last one counts. Questions without a handler are refused.
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
   * Starts a turn and gives its notifications as they come, `turn/completed` last. When `signal` aborts, the
   * turn is interrupted, and its end is still given. Leaving the loop early stops the watching, not the turn.
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
   * Ends the connection. What still waits for an answer rejects. Idempotent.
   *
   * @example
   * await client.close();
   */
  async close(): Promise<void> {
    this.#peer.closed("the client was closed");
    this.#wire.close();
    await new Promise<void>((resolve) => this.onClosed(() => resolve()));
  }

  #tell(method: string, params: unknown): void {
    if (method === "serverRequest/resolved") {
      // Ours or another client's answer counted: whoever is still at it can stop.
      this.#peer.withdraw((params as NotificationParams<"serverRequest/resolved">).requestId);
    }
    for (const listener of [...(this.#listeners.get(method) ?? [])]) guarded(() => listener(params as never));
    for (const listener of [...this.#everyListener])
      guarded(() => listener({ method, params } as Notification));
  }

  #serve(method: string, params: unknown, signal: AbortSignal): unknown {
    const handler = this.#handlers.get(method);
    if (!handler)
      throw new RpcError(METHOD_NOT_FOUND, `Method not found: this client does not answer ${method}`);
    return handler(params as never, { signal });
  }
}

/** A listener's fault is its program's to see, and keeps nothing from the other listeners. */
function guarded(run: () => void): void {
  try {
    run();
  } catch (cause) {
    queueMicrotask(() => {
      throw cause;
    });
  }
}
