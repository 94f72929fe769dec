// A Fetch handler behind Node's HTTP server.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream as NodeStream } from "node:stream/web";
import type { ToolServer } from "../create.ts";

export interface ServeOptions {
  /** Any free one by default. */
  readonly port?: number;
  /** The loopback by default: what others may reach is for you to say. */
  readonly host?: string;
}

/** A tool server that listens. */
export interface Serving {
  readonly url: string;
  readonly port: number;
  /** Takes no more requests, and closes the tool server. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

export async function serve(
  server: ToolServer,
  { port = 0, host = "127.0.0.1" }: ServeOptions = {},
): Promise<Serving> {
  const http = createServer(
    // One that says its request byte by byte does not get to say it all day.
    { requestTimeout: 60_000, headersTimeout: 15_000, connectionsCheckingInterval: 5000 },
    (incoming, outgoing) => void answer(server, incoming, outgoing, authority()),
  );
  const authority = (): string => {
    const address = http.address() as AddressInfo;
    return `${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`;
  };
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(port, host, () => {
      http.off("error", reject);
      resolve();
    });
  });
  return {
    url: `http://${authority()}`,
    port: (http.address() as AddressInfo).port,
    async close(options) {
      const gone = new Promise<void>((resolve) => http.close(() => resolve()));
      http.closeIdleConnections();
      await server.close(options);
      http.closeAllConnections();
      await gone;
    },
  };
}

async function answer(
  server: ToolServer,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  authority: string,
): Promise<void> {
  try {
    const response = await server.fetch(requestOf(incoming, authority));
    const body = response.body === null ? undefined : Buffer.from(await response.arrayBuffer());
    outgoing.writeHead(response.status, {
      ...Object.fromEntries(response.headers),
      "Content-Length": String(body?.length ?? 0),
      // What was not read can not be skipped: the next request would begin in the middle of it.
      ...(!incoming.complete && { Connection: "close" }),
    });
    outgoing.end(body);
  } catch {
    // A request line that is no address.
    outgoing.writeHead(400, { "Content-Length": "0", Connection: "close" }).end();
  }
}

function requestOf(incoming: IncomingMessage, authority: string): Request {
  const { method = "GET", headers, rawHeaders, url = "/" } = incoming;
  const named = `http://${headers.host ?? authority}`;
  const base = URL.canParse(named) ? named : `http://${authority}`;
  const copied = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) copied.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  // A path of its own: one that begins with two slashes would be taken for a host.
  const target = new URL(base);
  const [path, query = ""] = url.split(/\?(.*)/s);
  target.pathname = path!;
  target.search = query;
  const init: RequestInit & { duplex?: "half" } = { method, headers: copied };
  if (method !== "GET" && method !== "HEAD") {
    init.body = Readable.toWeb(incoming) as NodeStream<Uint8Array> as unknown as ReadableStream<Uint8Array>;
    init.duplex = "half";
  }
  return new Request(target, init);
}
