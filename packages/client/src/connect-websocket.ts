import { BobbinClient } from "./client.ts";

/** The WebSocket interface that the client needs. Browsers, Node from 22 and the `ws` package provide it. */
export interface WebSocketLike {
  /** Sends a text message. */
  send(data: string): void;
  /** Begins the closing handshake. */
  close(code?: number): void;
  /** Closes without a closing handshake. Only the `ws` package has it. */
  terminate?(): void;
  /** Calls the listener at each event of this type. */
  addEventListener(type: "open", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { code: number; reason: string }) => void): void;
  addEventListener(type: "error", listener: (event: { message?: string }) => void): void;
}

/** A class of WebSockets. Only that of the `ws` package has the third parameter. */
export type WebSocketConstructor = new (
  url: string,
  protocols?: string[],
  options?: { headers?: Record<string, string> },
) => WebSocketLike;

/** How a WebSocket is opened. */
export interface WebSocketOptions {
  /** Subprotocols that are offered, such as those of a ticket. */
  readonly protocols?: readonly string[];
  /** HTTP headers such as `Authorization`. Browsers cannot send any. */
  readonly headers?: Readonly<Record<string, string>>;
  /** WebSocket class to use instead of the global one. Node 20 has no global one: pass that of the `ws` package. */
  readonly WebSocket?: WebSocketConstructor;
  /** Aborts the attempt to connect. Has no effect once the socket is open. */
  readonly signal?: AbortSignal;
}

/** Time limit for the other side's answer to a close. */
const CLOSE_MS = 2_000;

/**
 * Connects to a host over a WebSocket. Resolves when the socket is open; call `initialize` next.
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
    const reportClosed = (why: string) => {
      if (closed) return;
      closed = true;
      clearTimeout(closing);
      fail(new Error(`cannot connect to ${url}: ${why}`));
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
      // Node's WebSocket emits no close event if it could not connect.
      if (!isOpen) reportClosed(problem);
    });
    socket.addEventListener("close", ({ code, reason }) =>
      reportClosed(reason || problem || closeText(code)),
    );
    return {
      send: (text) => {
        if (!closed) socket.send(text);
      },
      close() {
        if (closed || closing !== undefined) return;
        closing = setTimeout(() => {
          socket.terminate?.();
          reportClosed("the other side did not answer the close");
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
    throw new Error(
      'there is no global WebSocket: pass the option `WebSocket`, for example of the package "ws"',
    );
  }
  if (!headers) return new world.WebSocket(url, protocols);
  if (!world.process?.versions?.node) {
    throw new Error(
      "a browser's WebSocket cannot send headers: connect without them, or through your own server",
    );
  }
  // Node's WebSocket takes the headers in an options object in place of the protocols.
  return new world.WebSocket(url, { protocols, headers });
}

function closeText(code: number): string {
  return code === 1000 || code === 1005 ? "the connection was closed" : `the connection was closed (${code})`;
}
