import type { Agent, ClientRequest, IncomingMessage } from "node:http";
import type { Http, HttpAnswer, HttpRequest } from "./platform.ts";

/** Idle connections are closed after this time, or earlier if their server asks for that. */
const IDLE_MS = 30_000;
/**
 * Idle time of connections for requests that must not be repeated. No server closes a connection this soon, so a
 * reused connection is never just being closed.
 */
const SINGLE_IDLE_MS = 1000;
/** How much of a response is buffered for a reader that is slower than the network. */
const MAX_BUFFERED_BYTES = 256 * 1024;
/** Errors of a kept-alive connection that the server closed at the moment it was reused. */
const STALE = new Set(["ECONNRESET", "EPIPE"]);

type Send = typeof import("node:http").request;
interface ConnectionPool {
  readonly send: Send;
  readonly agent: Agent;
}

/** HTTP requests by `node:http` on keep-alive connections. Redirects are left to `fetch`. */
export function nodeHttp(): Http {
  const pools = new Map<string, Promise<ConnectionPool>>();
  return async (url, request) => {
    const idleMs = request.single ? SINGLE_IDLE_MS : IDLE_MS;
    const key = `${url.protocol} ${idleMs}`;
    let pool = pools.get(key);
    if (pool === undefined) {
      pool = openPool(url.protocol, idleMs);
      pools.set(key, pool);
    }
    const answer = await sendRequest(await pool, url, request);
    const redirects = answer.status >= 300 && answer.status < 400 && answer.headers.get("location") !== null;
    if (!redirects || request.redirect === "manual") return answer;
    // Redirects are left to `fetch`, which knows the method and headers that a redirect to another server may carry.
    await answer.body.return();
    return fetch(url, { ...request, redirect: "follow" });
  };
}

/** `node:http` and `node:https` are loaded with their first use: a host that starts does not need them. */
async function openPool(protocol: string, timeout: number): Promise<ConnectionPool> {
  const options = { keepAlive: true, timeout };
  if (protocol === "https:") {
    const { request, Agent } = await import("node:https");
    return { send: request, agent: new Agent(options) };
  }
  const { request, Agent } = await import("node:http");
  return { send: request, agent: new Agent(options) };
}

interface StreamedAnswer extends HttpAnswer {
  readonly body: Chunks;
}

function sendRequest(
  { send, agent }: ConnectionPool,
  url: URL,
  request: HttpRequest,
): Promise<StreamedAnswer> {
  const { method = "GET", headers, body, signal, single } = request;
  return new Promise((resolve, reject) => {
    let hasResponse = false;
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const attempt = (): ClientRequest => {
      const sent = send(url, {
        method,
        agent,
        headers: { ...headers, ...length, "accept-encoding": "identity" },
      });
      const answer = (response: IncomingMessage): void => {
        hasResponse = true;
        // An abort of the signal ends the response until its body was read to the end.
        response.once("close", () => signal.removeEventListener("abort", abort));
        const { statusCode: status = 0, headers: received } = response;
        // Reading starts here, so that bytes that came with the head are not buffered twice.
        const responseHeaders = {
          get: (name: string) => headerOf(received[name]),
          keys: () => Object.keys(received),
        };
        resolve({ status, headers: responseHeaders, body: new Chunks(response) });
      };
      sent.once("response", answer);
      // A switch of protocols is treated as a response, although no other protocol is supported. Without a listener,
      // Node would emit no event at all.
      sent.once("upgrade", (response, socket) => {
        answer(response);
        socket.destroy();
      });
      sent.on("error", (cause: NodeJS.ErrnoException) => {
        if (signal.aborted) return reject(signal.reason);
        if (sent.reusedSocket && !single && !hasResponse && STALE.has(cause.code ?? "")) {
          current = attempt();
          return;
        }
        signal.removeEventListener("abort", abort);
        reject(cause);
      });
      sent.end(body);
      return sent;
    };
    if (signal.aborted) return reject(signal.reason);
    const abort = (): void => void current.destroy(signal.reason);
    // The request is sent before the abort listener is added: `attempt` throws if a header is invalid, and then there
    // is nothing to abort.
    let current = attempt();
    signal.addEventListener("abort", abort, { once: true });
  });
}

function headerOf(value: string | readonly string[] | undefined): string | null {
  if (value === undefined) return null;
  return typeof value === "string" ? value : value.join(", ");
}

/** The bytes of a response as they arrive. A Node stream's own iterator costs several promises more per chunk. */
class Chunks implements AsyncIterableIterator<Uint8Array> {
  readonly #response: IncomingMessage;
  #chunks: Uint8Array[] = [];
  #buffered = 0;
  #ended = false;
  #failure: unknown;
  #wake: (() => void) | undefined;

  constructor(response: IncomingMessage) {
    this.#response = response;
    response.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#buffered += chunk.length;
      if (this.#buffered > MAX_BUFFERED_BYTES) response.pause();
      this.#wake?.();
    });
    response.once("end", () => this.#end(undefined));
    response.once("error", (cause) => this.#end(cause));
    response.once("close", () => this.#end(new Error("the connection was closed")));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#chunks.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    const value = this.#chunks.shift();
    if (value !== undefined) {
      this.#buffered -= value.length;
      if (this.#response.isPaused() && this.#buffered <= MAX_BUFFERED_BYTES / 2) this.#response.resume();
      return { done: false, value };
    }
    if (this.#failure !== undefined) throw this.#failure;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    if (!this.#ended) this.#response.destroy();
    return { done: true, value: undefined };
  }

  #end(failure: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#failure = failure;
    this.#wake?.();
  }
}
