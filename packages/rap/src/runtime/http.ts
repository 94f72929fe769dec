// What a host sends to tool servers, over a `fetch` that it is given. No redirect is ever followed by it: where a
// request may go is decided here.

/** One request over the network; `fetch` itself fits. */
export type Send = (url: URL, request: Outgoing) => Promise<Answer>;

export interface Outgoing {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  readonly redirect: "manual";
}

export interface Answer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** What the runtime side takes from the world. */
export interface RuntimePorts {
  readonly send: Send;
  /** Runs once after so long; the returned function cancels. */
  after(ms: number, run: () => void): () => void;
  /** From 0 to 1. */
  random(): number;
}

/** Why a request had no answer. */
export type NoAnswer =
  | { readonly kind: "timedOut" | "aborted" }
  | {
      readonly kind: "failed";
      readonly says: string;
      /** There was a connection: the server may have got it all. */
      readonly left: boolean;
    };

/**
 * Sends, and hands the answer to `read` while the connection is there. What takes longer than `ms` in all is cut.
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
    const sent = untilCut(send(url, { ...request, signal: cut.signal, redirect: "manual" }), cut.signal);
    const answer = await sent;
    return { kind: "answered", value: await untilCut(Promise.resolve(read(answer)), cut.signal) };
  } catch (cause) {
    if (signal?.aborted) return { kind: "aborted" };
    return timedOut ? { kind: "timedOut" } : { kind: "failed", says: told(cause), left: !neverLeft(cause) };
  } finally {
    late();
    signal?.removeEventListener("abort", abort);
  }
}

/** A `send` that does not care for its signal is not waited for either. */
function untilCut<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    const done = (): void => signal.removeEventListener("abort", stop);
    work.then(resolve, reject).finally(done);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

/** Of an answer that nobody reads; an empty one leaves its connection for others. */
export async function discard({ headers, body }: Answer): Promise<void> {
  const parts = body?.[Symbol.asyncIterator]();
  if (headers.get("content-length") === "0") await parts?.next();
  else await parts?.return?.();
}

/** All bytes of an answer, or undefined if there are more than `max`; the rest is not read. */
export async function readAnswer({ headers, body }: Answer, max: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = Number(headers.get("content-length") ?? 0) > max ? max + 1 : 0;
  for await (const chunk of length > max ? [] : (body ?? [])) {
    length += chunk.byteLength;
    if (length > max) break;
    chunks.push(chunk);
  }
  if (length <= max) return joined(chunks);
  await body?.[Symbol.asyncIterator]().return?.();
  return undefined;
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
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

/** It failed before there was a connection to send it on. What is not known to be so is not. */
function neverLeft(cause: unknown): boolean {
  const {
    code,
    syscall,
    cause: inner,
  } = (cause ?? {}) as { code?: string; syscall?: string; cause?: unknown };
  if (syscall !== undefined) return syscall === "connect" || syscall === "getaddrinfo";
  return NO_CONNECTION.test(code ?? "") || (inner !== undefined && neverLeft(inner));
}

/** In a few words, with the code that systems give (ECONNREFUSED). */
function told(cause: unknown): string {
  const {
    message,
    code,
    cause: inner,
  } = (cause ?? {}) as { message?: string; code?: string; cause?: unknown };
  const below = (inner ?? {}) as { message?: string; code?: string };
  return below.message || below.code || message || code || String(cause);
}
