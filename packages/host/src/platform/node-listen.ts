import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ambiguityOf, HTTP_LIMITS, HttpConnections, type HttpLimits } from "./http-connections.ts";
import { noteListener } from "./own-listeners.ts";
import type { HttpHandler, HttpReply, IncomingRequest, Listen } from "./platform.ts";

const BACKLOG = 4096;
const LIMITS: HttpLimits = { ...HTTP_LIMITS, maxConnections: 4096, requestTimeout: 60_000 };
/** What is left of a body that nobody reads is let in for so long, so that its sender gets to hear the answer. */
const LINGER_MS = 1000;

export const nodeListen: Listen = (place, handle) => listenWithin(LIMITS, place, handle);

/** Plain HTTP. Answers are empty, but for a refusal that has words: they are JSON, as `error`. */
export async function listenWithin(
  limits: HttpLimits,
  { host, port }: Parameters<Listen>[0],
  handle: HttpHandler,
): ReturnType<Listen> {
  const { createServer } = await import("node:http");
  const server = createServer(limits);
  new HttpConnections(server, limits.maxConnections);
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
  noteListener(server);
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
  const { status, says }: HttpReply =
    ambiguity === undefined ? await handle(incoming(request)) : { status: 400, says: ambiguity };
  const unread = !request.readableEnded;
  const body = says === undefined ? "" : JSON.stringify({ error: says });
  response.writeHead(status, {
    "content-length": Buffer.byteLength(body),
    ...(body !== "" && { "content-type": "application/json" }),
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
  return {
    method: request.method ?? "GET",
    path: (request.url ?? "/").split("?", 1)[0]!,
    headers: {
      get: (name) => {
        const value = request.headers[name.toLowerCase()];
        return value === undefined ? null : String(value);
      },
    },
    // An iterator that is left must not end the connection before the answer has gone.
    body: { [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }) },
  };
}
