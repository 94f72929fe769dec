// A Fetch handler behind Node's HTTP server. What is Node's is loaded when it is needed, so that bundles for other
// platforms, which have this file in them too, do not ask for it.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
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
  const { createServer } = await import("node:http");
  const { Readable: stream } = await import("node:stream");
  const http = createServer(
    {
      // One that says its request byte by byte does not get to say it all day.
      requestTimeout: 60_000,
      headersTimeout: 15_000,
      connectionsCheckingInterval: 5000,
      // Longer than hosts keep a connection: one that we close while a notice is on its way loses the notice.
      keepAliveTimeout: 75_000,
    },
    (incoming, outgoing) => void answer(server, requestOf(incoming, authority(), stream), incoming, outgoing),
  );
  const authority = (): string => {
    const address = http.address() as AddressInfo;
    return `${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`;
  };
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    // A host may close many threads at once.
    http.listen({ port, host, backlog: 4096 }, () => {
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
  request: Request | undefined,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const response = request === undefined ? new Response(null, { status: 400 }) : await server.fetch(request);
  const body = response.body === null ? undefined : new Uint8Array(await response.arrayBuffer());
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    "Content-Length": String(body?.length ?? 0),
    // What was not read can not be skipped: the next request would begin in the middle of it.
    ...(!incoming.complete && { Connection: "close" }),
  });
  outgoing.end(body);
}

/** Undefined for what can not be one, such as a method that the platform does not speak. */
function requestOf(
  incoming: IncomingMessage,
  authority: string,
  stream: typeof Readable,
): Request | undefined {
  const { method = "GET", headers, rawHeaders, url = "/" } = incoming;
  const named = `http://${headers.host ?? authority}`;
  const target = new URL(URL.canParse(named) ? named : `http://${authority}`);
  // Set apart from the host: a path that begins with two slashes would be taken for one.
  const [path, query = ""] = url.split(/\?(.*)/s);
  target.pathname = path!;
  target.search = query;
  const copied = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) copied.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  const init: RequestInit & { duplex?: "half" } = { method, headers: copied };
  if (method !== "GET" && method !== "HEAD") {
    init.body = stream.toWeb(incoming) as unknown as ReadableStream<Uint8Array>;
    init.duplex = "half";
  }
  try {
    return new Request(target, init);
  } catch {
    return undefined;
  }
}
