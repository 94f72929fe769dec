import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { LineSplitter } from "@bobbin/rpc";
import { WebSocket } from "ws";

/** A client's end of a transport: whole messages out and in, and the means to stop reading. */
export interface Wire {
  send(text: string): void;
  /** Sends bytes unchanged, even if they are no message. */
  sendBytes(bytes: Uint8Array): void;
  /** One message, whatever its bytes. */
  sendMessage(bytes: Uint8Array): void;
  onMessage(take: (text: string) => void): void;
  pause(): void;
  resume(): void;
  /** Resolves when the host has closed the connection or it broke, with the close code of a WebSocket. */
  readonly closed: Promise<number>;
  /** Ends it from this side. */
  end(): void;
  /** Closes the connection without a handshake. */
  cut(): void;
}

const LF = Buffer.from("\n");

export function stdioWire(child: ChildProcessWithoutNullStreams): Wire {
  let take: (text: string) => void = () => {};
  // Errors are ignored, because some scenarios write to a host that is gone.
  child.stdin.on("error", () => {});
  const lines = new LineSplitter(
    {
      line: (text) => take(text),
      oversized: (bytes) => take(`a line of ${bytes} bytes`),
      undecodable: () => take("a line that is no UTF-8"),
    },
    2 ** 30,
  );
  child.stdout.on("data", (chunk: Buffer) => lines.push(chunk));
  return {
    send: (text) => void child.stdin.write(`${text}\n`),
    sendBytes: (bytes) => void child.stdin.write(bytes),
    sendMessage: (bytes) => void child.stdin.write(Buffer.concat([bytes, LF])),
    onMessage: (told) => {
      take = told;
    },
    pause: () => child.stdout.pause(),
    resume: () => child.stdout.resume(),
    closed: new Promise((resolve) => {
      // An incomplete last line is dropped: the host was killed while it wrote it.
      child.stdout.once("close", () => resolve(0));
    }),
    end: () => void child.stdin.end(),
    cut: () => void child.stdin.destroy(),
  };
}

/** Wraps an open WebSocket. */
export function webSocketWire(socket: WebSocket): Wire {
  socket.on("error", () => {});
  return {
    send: (text) => socket.send(text),
    sendBytes: (bytes) => socket.send(bytes, { binary: false }),
    sendMessage: (bytes) => socket.send(bytes, { binary: false }),
    onMessage: (take) => void socket.on("message", (data: Buffer) => take(data.toString())),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    closed: new Promise((resolve) => {
      socket.once("close", resolve);
    }),
    end: () => socket.close(),
    cut: () => socket.terminate(),
  };
}

export function openWebSocket(url: string, headers: Record<string, string> = {}): Promise<WebSocket> {
  // A Unix socket's address is written `ws+unix:PATH:/`.
  const address = url.startsWith("unix://") ? `ws+unix:${url.slice("unix://".length)}:/` : url;
  const socket = new WebSocket(address, { headers, maxPayload: 2 ** 30, perMessageDeflate: false });
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve(socket));
    socket.once("unexpected-response", (request, response) => {
      request.destroy();
      reject(new Error(`the host answered ${response.statusCode}`));
    });
    socket.once("error", reject);
  });
}
