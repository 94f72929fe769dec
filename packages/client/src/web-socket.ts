import { BobbinClient } from "./client.ts";

/** What we need of a WebSocket: that of browsers, of Node from 22, and of the `ws` package all have it. */
export interface WebSocketLike {
  send(data: string): void;
  close(code?: number): void;
  /** The `ws` package's: ends it without the other side's consent. */
  terminate?(): void;
  addEventListener(type: "open", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { code: number; reason: string }) => void): void;
  addEventListener(type: "error", listener: (event: { message?: string }) => void): void;
}

export type WebSocketConstructor = new (
  url: string,
  protocols?: string[],
  options?: { headers?: Record<string, string> },
) => WebSocketLike;

export interface WebSocketOptions {
  readonly protocols?: readonly string[];
  /** For `Authorization`. Browsers can not send any. */
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the global one; Node 20 has none: hand in that of the `ws` package. */
  readonly WebSocket?: WebSocketConstructor;
  /** Gives up connecting. */
  readonly signal?: AbortSignal;
}

/** How long the other side has to agree to an end. */
const CLOSE_MS = 2_000;

/**
 * Connects to a host that listens on a WebSocket; resolves when it is open, `initialize` comes next.
 *
 * @example
 * import WebSocket from "ws"; // not needed in browsers, nor in Node from 22
 * const client = await connectWebSocket("ws://127.0.0.1:4545", {
 *   headers: { Authorization: `Bearer ${token}` },
 *   WebSocket,
 * });
 */
export async function connectWebSocket(url: string, options: WebSocketOptions = {}): Promise<BobbinClient> {
  options.signal?.throwIfAborted();
  const socket = construct(url, options);
  let problem: string | undefined;
  let open!: () => void;
  let fail!: (cause: unknown) => void;
  const opened = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  const client = new BobbinClient((events) => {
    let closing: ReturnType<typeof setTimeout> | undefined;
    let closed = false;
    const gone = (why: string) => {
      if (closed) return;
      closed = true;
      clearTimeout(closing);
      fail(new Error(`can not connect to ${url}: ${why}`));
      events.closed(why);
    };
    let isOpen = false;
    socket.addEventListener("open", () => {
      isOpen = true;
      open();
    });
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string" && !closed) events.message(data);
    });
    socket.addEventListener("error", ({ message }) => {
      problem = message || "the connection failed";
      // Node's own tells no close of a connection that never was.
      if (!isOpen) gone(problem);
    });
    socket.addEventListener("close", ({ code, reason }) => gone(reason || problem || closeText(code)));
    return {
      send: (text) => {
        if (!closed) socket.send(text);
      },
      close() {
        if (closed || closing !== undefined) return;
        closing = setTimeout(() => {
          socket.terminate?.();
          gone("the other side did not answer the close");
        }, CLOSE_MS);
        socket.close(1000);
      },
    };
  });
  const giveUp = () => {
    fail(options.signal?.reason);
    void client.close();
  };
  options.signal?.addEventListener("abort", giveUp, { once: true });
  try {
    await opened;
    return client;
  } finally {
    options.signal?.removeEventListener("abort", giveUp);
  }
}

function construct(url: string, options: WebSocketOptions): WebSocketLike {
  const protocols = [...(options.protocols ?? [])];
  const { headers } = options;
  if (options.WebSocket) return new options.WebSocket(url, protocols, headers && { headers: { ...headers } });
  const world = globalThis as unknown as {
    WebSocket?: new (url: string, options: unknown) => WebSocketLike;
    process?: { versions?: { node?: string } };
  };
  if (!world.WebSocket) {
    throw new Error('there is no WebSocket here: hand in one, for example that of the package "ws"');
  }
  if (!headers) return new world.WebSocket(url, protocols);
  if (!world.process?.versions?.node) {
    throw new Error(
      "a browser's WebSocket can not send headers: connect without, or through your own server",
    );
  }
  // Node's own takes them where the protocols would be.
  return new world.WebSocket(url, { protocols, headers });
}

function closeText(code: number): string {
  return code === 1000 || code === 1005 ? "the connection was closed" : `the connection was closed (${code})`;
}
