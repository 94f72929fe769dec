// HTTP requests from a host to tool servers, over a `fetch` function that the host passes in. That function must not
// follow redirects: `discovery.ts` decides where a request may go.

/** One request over the network; `fetch` itself fits. */
export type Send = (url: URL, request: Outgoing) => Promise<Answer>;

/** A request to a tool server. */
export interface Outgoing {
  /** `GET` reads the toolset; every other request is a `POST`. */
  readonly method: "GET" | "POST";
  /** Header fields, with the authorization. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON of a `POST`. */
  readonly body?: string;
  /** Aborts the request and the reading of its answer. */
  readonly signal: AbortSignal;
  /** Redirects are not followed. */
  readonly redirect: "manual";
}

/** The answer of a tool server. */
export interface Answer {
  /** The HTTP status. */
  readonly status: number;
  /** The header fields of the answer. */
  readonly headers: { get(name: string): string | null };
  /** The body of the answer in pieces; null if there is none. */
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** The I/O that the host's side of the protocol needs: network, timers, randomness. */
export interface RuntimePorts {
  /** Sends a request. */
  readonly send: Send;
  /** Calls `run` once after `ms` milliseconds. The returned function cancels the timer. */
  after(ms: number, run: () => void): () => void;
  /** A random number from 0 to 1. */
  random(): number;
}

/** Why a request got no answer. */
export type NoAnswer =
  | { readonly kind: "timedOut" | "aborted" }
  | {
      readonly kind: "failed";
      readonly says: string;
      /** The request failed after a connection was made, so the server may have received all of it. */
      readonly mayHaveArrived: boolean;
    };

/**
 * Sends a request and passes the answer to `read`. Request and reading together are aborted after `ms` milliseconds.
 * Never rejects.
 *
 * @example
 * const got = await exchange(ports, new URL(url), { method: "GET", headers: {} }, 5000, ({ status }) => status);
 * if (got.kind === "answered") log(`status ${got.value}`);
 */
export async function exchange<T>(
  { send, after }: Pick<RuntimePorts, "send" | "after">,
  url: URL,
  request: Omit<Outgoing, "signal" | "redirect">,
  ms: number,
  read: (answer: Answer) => T | Promise<T>,
  signal?: AbortSignal,
): Promise<{ readonly kind: "answered"; readonly value: T } | NoAnswer> {
  const cut = new AbortController();
  let timedOut = false;
  const late = after(ms, () => {
    timedOut = true;
    cut.abort(new Error("the server took too long"));
  });
  const abort = (): void => cut.abort(signal!.reason);
  if (signal?.aborted) abort();
  else signal?.addEventListener("abort", abort, { once: true });
  try {
    const sent = untilAborted(send(url, { ...request, signal: cut.signal, redirect: "manual" }), cut.signal);
    const answer = await sent;
    return { kind: "answered", value: await untilAborted(Promise.resolve(read(answer)), cut.signal) };
  } catch (cause) {
    if (signal?.aborted) return { kind: "aborted" };
    return timedOut
      ? { kind: "timedOut" }
      : { kind: "failed", says: causeText(cause), mayHaveArrived: !failedBeforeConnecting(cause) };
  } finally {
    late();
    signal?.removeEventListener("abort", abort);
  }
}

/** Settles with `work`, or rejects when the signal aborts. A `send` that ignores its signal cannot delay the caller. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    const done = (): void => signal.removeEventListener("abort", stop);
    work.then(resolve, reject).finally(done);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

/** Drops the body of an answer. An empty body is read to its end, so that the connection can be reused. */
export async function discard({ headers, body }: Answer): Promise<void> {
  const parts = body?.[Symbol.asyncIterator]();
  if (headers.get("content-length") === "0") await parts?.next();
  else await parts?.return?.();
}

/**
 * Reads the body of an answer. Undefined if the body has more than `max` bytes; the rest is not read.
 *
 * @example
 * const bytes = await readAnswer(answer, 64 * 1024);
 */
export async function readAnswer({ headers, body }: Answer, max: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = Number(headers.get("content-length") ?? 0) > max ? max + 1 : 0;
  for await (const chunk of length > max ? [] : (body ?? [])) {
    length += chunk.byteLength;
    if (length > max) break;
    chunks.push(chunk);
  }
  if (length <= max) return concatenated(chunks);
  await body?.[Symbol.asyncIterator]().return?.();
  return undefined;
}

function concatenated(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

const NO_CONNECTION =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_\w+|ERR_SSL_\w+|CERT_\w+|\w*SELF_SIGNED\w*|UNABLE_TO_\w+)$/;

/** Whether a request failed before a connection was made. False if the error does not say so. */
function failedBeforeConnecting(cause: unknown): boolean {
  const {
    code,
    syscall,
    cause: inner,
  } = (cause ?? {}) as { code?: string; syscall?: string; cause?: unknown };
  if (syscall !== undefined) return syscall === "connect" || syscall === "getaddrinfo";
  return NO_CONNECTION.test(code ?? "") || (inner !== undefined && failedBeforeConnecting(inner));
}

/**
 * A short text for an error. `fetch` hides the reason (such as ECONNREFUSED) in `cause`, so the text of `cause` is
 * preferred.
 */
function causeText(cause: unknown): string {
  const {
    message,
    code,
    cause: inner,
  } = (cause ?? {}) as { message?: string; code?: string; cause?: unknown };
  const below = (inner ?? {}) as { message?: string; code?: string };
  return below.message || below.code || message || code || String(cause);
}
