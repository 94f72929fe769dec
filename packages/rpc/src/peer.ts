/** The other side answered with an error. `data.code`, where there is one, is stable; the message is for people. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** A request got no answer at all; whether the other side did what was asked is not known. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
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
   * Serves a request of the other side: what it returns is the result, an RpcError that it throws the error.
   * `signal` aborts when nobody waits for the answer any more.
   */
  request?(method: string, params: unknown, signal: AbortSignal): unknown;
  /** What came was no message that means anything to us. Nothing is lost by ignoring it. */
  unexpected?(problem: string, text: string): void;
}

export interface PeerOptions {
  /** For `timeoutMs`; a simulation hands in its own. */
  readonly after?: (ms: number, run: () => void) => () => void;
}

export interface RequestOptions {
  /** Stops waiting for the answer; the other side is not told. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

interface Pending {
  readonly method: string;
  resolve(result: unknown): void;
  reject(cause: unknown): void;
}

const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;

/**
 * The calling side of one JSON-RPC connection, on any wire that carries whole texts. The wire's owner hands in
 * what arrives by `receive`, and says by `closed` that nothing more will.
 */
export class Peer {
  readonly #send: (text: string) => void;
  readonly #events: PeerEvents;
  readonly #after: (ms: number, run: () => void) => () => void;
  readonly #pending = new Map<PeerRequestId, Pending>();
  /** Requests of the other side that we have not answered. */
  readonly #serving = new Map<PeerRequestId, AbortController>();
  #lastId = 0;
  #closed: NoAnswerError | undefined;

  constructor(send: (text: string) => void, events: PeerEvents = {}, options: PeerOptions = {}) {
    this.#send = send;
    this.#events = events;
    this.#after = options.after ?? realTimer;
  }

  /** Rejects with RpcError, NoAnswerError, or the signal's reason. */
  request(method: string, params?: unknown, options: RequestOptions = {}): Promise<unknown> {
    const { signal, timeoutMs } = options;
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
          resolve(result);
        },
        reject(cause) {
          settle();
          reject(cause);
        },
      });
      this.#write({ id, method, params });
    });
  }

  /** Dropped when the wire is closed. */
  notify(method: string, params?: unknown): void {
    this.#write({ method, params });
  }

  /** One whole message as it came. Throws only what `notification` throws. */
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
    // Late answers are normal: whoever asked has stopped waiting.
    if (!call) return this.#events.unexpected?.("an answer that nobody waits for", text);
    if ("error" in message) call.reject(readError(message.error));
    else call.resolve(message.result);
  }

  /** The request of the other side was settled elsewhere: its handler is told, and its answer is not sent. */
  withdraw(id: PeerRequestId): void {
    const serving = this.#serving.get(id);
    this.#serving.delete(id);
    serving?.abort(new Error("the request was settled elsewhere"));
  }

  /** The wire is gone: what still waits for an answer is told so. Idempotent. */
  closed(why = "the connection was closed"): void {
    if (this.#closed) return;
    this.#closed = new NoAnswerError("closed", why);
    for (const call of [...this.#pending.values()]) call.reject(unanswered(call.method, why));
    for (const serving of this.#serving.values()) serving.abort(this.#closed);
    this.#serving.clear();
  }

  #serve(id: PeerRequestId, method: string, params: unknown): void {
    const serving = new AbortController();
    // A request that is asked again (after a resume, say) is served again, and the newer one answers.
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
    new Promise((resolve) => resolve(request.call(this.#events, method, params, serving.signal))).then(
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
    return new RpcError(INTERNAL_ERROR, "The answer is an error that can not be read", error);
  const { code, message, data } = error;
  return new RpcError(
    typeof code === "number" ? code : INTERNAL_ERROR,
    typeof message === "string" ? message : "The answer is an error without a message",
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
