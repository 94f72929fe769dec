import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

/** Why a request is refused. `code` is stable, `message` is for people. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 426 | 500 | 503;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const CLOSING: Refusal = { status: 503, code: "closing", message: "the host is shutting down" };

export const FULL: Refusal = {
  status: 503,
  code: "tooManyConnections",
  message: "this listener has as many clients as it takes; raise max_connections in config.toml",
  headers: { "Retry-After": "5" },
};

export function refuse(response: ServerResponse, refusal: Refusal): void {
  const { body, headers } = render(refusal);
  response.writeHead(refusal.status, headers);
  response.end(body);
}

/** Refuses an upgrade request. Its socket has no response object. */
export function refuseUpgrade(socket: Duplex, refusal: Refusal): void {
  const { body, headers } = render(refusal);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join("")}\r\n`;
  socket.on("error", () => {});
  socket.once("finish", () => socket.destroy());
  socket.end(head + body);
}

function render(refusal: Refusal): { body: string; headers: Record<string, string> } {
  const body = `${JSON.stringify({ error: { code: refusal.code, message: refusal.message } })}\n`;
  return {
    body,
    headers: {
      ...refusal.headers,
      "Content-Type": "application/json",
      "Content-Length": String(Buffer.byteLength(body)),
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      Connection: "close",
    },
  };
}
