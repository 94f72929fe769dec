import type { Agent, ClientRequest, IncomingMessage } from "node:http";
import type { Http, HttpAnswer, HttpRequest } from "./platform.ts";

/** A connection that nobody used for so long is closed, or earlier if its server says so. */
const IDLE_MS = 30_000;
/** For what is sent once only: no server gives up a connection so soon, so it is never one that is going away. */
const SINGLE_IDLE_MS = 1000;
/** What may wait for a reader that is slower than the network. */
const AHEAD_BYTES = 256 * 1024;
/** A connection that the server closed just when it was taken again. */
const STALE = new Set(["ECONNRESET", "EPIPE"]);

type Send = typeof import("node:http").request;
interface Wire {
  readonly send: Send;
  readonly agent: Agent;
}

/** `node:http` on connections that stay open. What it does not do by itself is left to `fetch`. */
export function nodeHttp(): Http {
  const wires = new Map<string, Promise<Wire>>();
  return async (url, request) => {
    const idleMs = request.single ? SINGLE_IDLE_MS : IDLE_MS;
    const key = `${url.protocol} ${idleMs}`;
    let wire = wires.get(key);
    if (wire === undefined) {
      wire = openWire(url.protocol, idleMs);
      wires.set(key, wire);
    }
    const answer = await answered(await wire, url, request);
    const redirects = answer.status >= 300 && answer.status < 400 && answer.headers.get("location") !== null;
    if (!redirects || request.redirect === "manual") return answer;
    // Which method goes on, and which headers another server may see, is a matter of its own.
    await answer.body.return();
    return fetch(url, { ...request, redirect: "follow" });
  };
}

/** Loaded when first used: a host that starts does not need it. */
async function openWire(protocol: string, timeout: number): Promise<Wire> {
  const options = { keepAlive: true, timeout };
  if (protocol === "https:") {
    const { request, Agent } = await import("node:https");
    return { send: request, agent: new Agent(options) };
  }
  const { request, Agent } = await import("node:http");
  return { send: request, agent: new Agent(options) };
}

interface Answered extends HttpAnswer {
  readonly body: Chunks;
}

function answered({ send, agent }: Wire, url: URL, request: HttpRequest): Promise<Answered> {
  const { method = "GET", headers, body, signal, single } = request;
  return new Promise((resolve, reject) => {
    let begun = false;
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const attempt = (): ClientRequest => {
      const sent = send(url, {
        method,
        agent,
        headers: { ...headers, ...length, "accept-encoding": "identity" },
      });
      const answer = (response: IncomingMessage): void => {
        begun = true;
        // Until the whole answer is read, an abort ends it.
        response.once("close", () => signal.removeEventListener("abort", abort));
        const { statusCode: status = 0, headers: given } = response;
        // Read from here on: what came with the head is not put aside first.
        const heads = { get: (name: string) => headerOf(given[name]), keys: () => Object.keys(given) };
        resolve({ status, headers: heads, body: new Chunks(response) });
      };
      sent.once("response", answer);
      // Another protocol: that is an answer too, and nobody here speaks it. Unheard, it would be no event at all.
      sent.once("upgrade", (response, socket) => {
        answer(response);
        socket.destroy();
      });
      sent.on("error", (cause: NodeJS.ErrnoException) => {
        if (signal.aborted) return reject(signal.reason);
        if (sent.reusedSocket && !single && !begun && STALE.has(cause.code ?? "")) {
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
    // First of all: it throws if something in the request cannot be sent, and then there is nothing to abort.
    let current = attempt();
    signal.addEventListener("abort", abort, { once: true });
  });
}

function headerOf(value: string | readonly string[] | undefined): string | null {
  if (value === undefined) return null;
  return typeof value === "string" ? value : value.join(", ");
}

/** An answer's bytes as they come: a stream's own iterator costs several promises more for each. */
class Chunks implements AsyncIterableIterator<Uint8Array> {
  readonly #response: IncomingMessage;
  #chunks: Uint8Array[] = [];
  #ahead = 0;
  #ended = false;
  #failure: unknown;
  #wake: (() => void) | undefined;

  constructor(response: IncomingMessage) {
    this.#response = response;
    response.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#ahead += chunk.length;
      if (this.#ahead > AHEAD_BYTES) response.pause();
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
      this.#ahead -= value.length;
      if (this.#response.isPaused() && this.#ahead <= AHEAD_BYTES / 2) this.#response.resume();
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
