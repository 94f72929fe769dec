import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ambiguityOf, HTTP_LIMITS, HttpConnectionLimit, type HttpLimits } from "./http-listener-limits.ts";
import { registerListener } from "./own-listening-ports.ts";
import type { HttpHandler, HttpReply, IncomingRequest, Listen } from "./platform.ts";

const BACKLOG = 4096;
const LIMITS: HttpLimits = { ...HTTP_LIMITS, maxConnections: 4096, requestTimeout: 60_000 };
/**
 * How long the rest of an unread request body is accepted, so that the sender can read the response before the
 * connection closes.
 */
const LINGER_MS = 1000;

/**
 * Headers of HTML pages: no scripts, not cached, and no referrer, because the address may contain an authorization
 * code.
 */
const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
};

/** Serves HTTP with the default limits. */
export const nodeListen: Listen = (address, handle) => listenWithin(LIMITS, address, handle);

/**
 * Serves plain HTTP. A response has no body, except an HTML page, or for a refusal with a reason the JSON object `{
 * error }`.
 */
export async function listenWithin(
  limits: HttpLimits,
  { host, port }: Parameters<Listen>[0],
  handle: HttpHandler,
): ReturnType<Listen> {
  const { createServer } = await import("node:http");
  const server = createServer(limits);
  new HttpConnectionLimit(server, limits.maxConnections);
  server.on("request", (request, response) => {
    answer(request, response, handle).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  server.unref();
  registerListener(server);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), LINGER_MS).unref();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  handle: HttpHandler,
): Promise<void> {
  request.on("error", () => {});
  response.on("error", () => {});
  const ambiguity = ambiguityOf(request);
  const { status, says, html }: HttpReply =
    ambiguity === undefined ? await handle(incoming(request)) : { status: 400, says: ambiguity };
  const unread = !request.readableEnded;
  const body = html ?? (says === undefined ? "" : JSON.stringify({ error: says }));
  response.writeHead(status, {
    "content-length": Buffer.byteLength(body),
    ...(html !== undefined ? PAGE_HEADERS : body !== "" && { "content-type": "application/json" }),
    ...(status === 503 && { "retry-after": "1" }),
    ...(status === 405 && { allow: "POST" }),
    ...(unread && { connection: "close" }),
  });
  response.end(body);
  if (!unread) return;
  request.resume();
  setTimeout(() => request.destroy(), LINGER_MS).unref();
}

function incoming(request: IncomingMessage): IncomingRequest {
  const [path, query] = splitQuery(request.url ?? "/");
  return {
    method: request.method ?? "GET",
    path,
    query,
    headers: {
      get: (name) => {
        const value = request.headers[name.toLowerCase()];
        return value === undefined ? null : String(value);
      },
    },
    // Leaving the loop early must not destroy the connection before the response was sent.
    body: { [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }) },
  };
}

function splitQuery(url: string): readonly [string, string] {
  const at = url.indexOf("?");
  return at < 0 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)];
}
