/**
 * An error that the other side replied with.
 *
 * @example
 * try {
 *   await bobbin.resumeThread(threadId);
 * } catch (cause) {
 *   if (cause instanceof RpcError) console.error(cause.code, cause.message, cause.data);
 *   else throw cause;
 * }
 */
export class RpcError extends Error {
  /** Always `RpcError`. */
  override readonly name = "RpcError";
  /** The code of JSON-RPC, such as -32600. */
  readonly code: number;
  /** Further details from the other side. A Bobbin host sends `{code, retryable}`, with a stable name in `code`. */
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/**
 * A request that got no answer. It is unknown whether the other side has acted on it.
 *
 * @example
 * try {
 *   await client.request("thread/compact/start", { threadId }, { timeoutMs: 5_000 });
 * } catch (cause) {
 *   if (cause instanceof NoAnswerError) console.warn(`no answer: ${cause.reason}`);
 *   else throw cause;
 * }
 */
export class NoAnswerError extends Error {
  /** Always `NoAnswerError`. */
  override readonly name = "NoAnswerError";
  /** `closed`: the connection ended. `timedOut`: `timeoutMs` passed. */
  readonly reason: "closed" | "timedOut";

  constructor(reason: "closed" | "timedOut", message: string) {
    super(message);
    this.reason = reason;
  }
}

export type PeerRequestId = string | number;

export interface PeerEvents {
  notification?(method: string, params: unknown): void;
  /**
   * Handles a request of the other side. The return value is the result; a thrown RpcError is the error reply. `signal`
   * aborts when the answer is no longer needed.
   */
  request?(method: string, params: unknown, signal: AbortSignal, id: PeerRequestId): unknown;
  /** Called for an incoming text that is no valid message, or an answer to no pending request. It can be ignored. */
  unexpected?(problem: string, text: string): void;
}

export interface PeerOptions {
  /** Timer for `timeoutMs`. A simulation passes its own. */
  readonly after?: (ms: number, run: () => void) => () => void;
}

/** How long a request waits for its answer, and a callback that gets the result first. */
export interface RequestOptions {
  /** Stops waiting for the answer. The other side is not notified. */
  readonly signal?: AbortSignal | undefined;
  /** Rejects with `NoAnswerError` after this many milliseconds. There is no limit without it. */
  readonly timeoutMs?: number | undefined;
  /** Called with the result as soon as it arrives, before any later message is handled. If it throws, the request rejects. */
  readonly received?: ((result: unknown) => void) | undefined;
}

interface Pending {
  readonly method: string;
  resolve(result: unknown): void;
  reject(cause: unknown): void;
}

const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;

/**
 * One side of a JSON-RPC connection, on any transport that carries whole texts. The owner of the transport calls
 * `receive` for each incoming text, and `closed` at the end.
 */
export class Peer {
  readonly #send: (text: string) => void;
  readonly #events: PeerEvents;
  readonly #after: (ms: number, run: () => void) => () => void;
  readonly #pending = new Map<PeerRequestId, Pending>();
  /** Requests of the other side that are not answered yet. */
  readonly #serving = new Map<PeerRequestId, AbortController>();
  #lastId = 0;
  #closed: NoAnswerError | undefined;

  constructor(send: (text: string) => void, events: PeerEvents = {}, options: PeerOptions = {}) {
    this.#send = send;
    this.#events = events;
    this.#after = options.after ?? realTimer;
  }

  /** Sends a request. Rejects with RpcError, NoAnswerError, or the signal's reason. */
  request(method: string, params?: unknown, options: RequestOptions = {}): Promise<unknown> {
    const { signal, timeoutMs, received } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (this.#closed) return reject(unanswered(method, this.#closed.message));
      const id = ++this.#lastId;
      const settle = () => {
        this.#pending.delete(id);
        signal?.removeEventListener("abort", abort);
        cancelTimer?.();
      };
      const abort = () => {
        settle();
        reject(signal?.reason);
      };
      const cancelTimer =
        timeoutMs === undefined
          ? undefined
          : this.#after(timeoutMs, () => {
              settle();
              reject(new NoAnswerError("timedOut", `${method}: no answer within ${timeoutMs} ms`));
            });
      signal?.addEventListener("abort", abort, { once: true });
      this.#pending.set(id, {
        method,
        resolve(result) {
          settle();
          try {
            received?.(result);
            resolve(result);
          } catch (cause) {
            reject(cause);
          }
        },
        reject(cause) {
          settle();
          reject(cause);
        },
      });
      this.#write({ id, method, params });
    });
  }

  /** Sends a notification. Dropped after `closed`. */
  notify(method: string, params?: unknown): void {
    this.#write({ method, params });
  }

  /** Handles one incoming text. Throws only what the `notification` event throws. */
  receive(text: string): void {
    if (this.#closed) return;
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return this.#events.unexpected?.("not JSON", text);
    }
    if (!isObject(message)) return this.#events.unexpected?.("not a JSON object", text);
    const { id, method } = message;
    if (typeof method === "string") {
      if (id === undefined) return this.#events.notification?.(method, message.params);
      if (!isId(id)) return this.#events.unexpected?.("a request whose id is no string or number", text);
      return this.#serve(id, method, message.params);
    }
    const call = isId(id) ? this.#pending.get(id) : undefined;
    // Not an error: an answer may come late, after a timeout or an abort.
    if (!call) return this.#events.unexpected?.("an answer that nobody waits for", text);
    if ("error" in message) call.reject(readError(message.error));
    else call.resolve(message.result);
  }

  /** Drops a request of the other side that was settled elsewhere: aborts its handler's signal, and sends no answer. */
  withdraw(id: PeerRequestId): void {
    const serving = this.#serving.get(id);
    this.#serving.delete(id);
    serving?.abort(new Error("the request was settled elsewhere"));
  }

  /** Call when the transport has ended. Rejects pending requests with NoAnswerError. Idempotent. */
  closed(why = "the connection was closed"): void {
    if (this.#closed) return;
    this.#closed = new NoAnswerError("closed", why);
    for (const call of [...this.#pending.values()]) call.reject(unanswered(call.method, why));
    for (const serving of this.#serving.values()) serving.abort(this.#closed);
    this.#serving.clear();
  }

  #serve(id: PeerRequestId, method: string, params: unknown): void {
    const serving = new AbortController();
    // A request that is sent again with the same ID (for example after a resume) replaces the earlier one.
    this.withdraw(id);
    this.#serving.set(id, serving);
    const answer = (body: { result: unknown } | { error: object }) => {
      if (this.#serving.get(id) !== serving) return;
      this.#serving.delete(id);
      this.#write({ id, ...body });
    };
    const { request } = this.#events;
    if (!request)
      return answer({ error: { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` } });
    new Promise((resolve) => resolve(request.call(this.#events, method, params, serving.signal, id))).then(
      (result) => answer({ result: result ?? {} }),
      (cause: unknown) => answer({ error: errorBody(cause) }),
    );
  }

  #write(message: object): void {
    if (!this.#closed) this.#send(JSON.stringify(message));
  }
}

function unanswered(method: string, why: string): NoAnswerError {
  return new NoAnswerError("closed", `${method}: ${why}`);
}

function errorBody(cause: unknown): object {
  if (cause instanceof RpcError) {
    const { code, message, data } = cause;
    return { code, message, ...(data !== undefined && { data }) };
  }
  return { code: INTERNAL_ERROR, message: cause instanceof Error ? cause.message : String(cause) };
}

function readError(error: unknown): RpcError {
  if (!isObject(error))
    return new RpcError(INTERNAL_ERROR, "The reply is an error without code and message", error);
  const { code, message, data } = error;
  return new RpcError(
    typeof code === "number" ? code : INTERNAL_ERROR,
    typeof message === "string" ? message : "The reply is an error without a message",
    data,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is PeerRequestId {
  return typeof value === "string" || typeof value === "number";
}

function realTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
