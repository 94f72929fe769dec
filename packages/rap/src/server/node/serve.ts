// Serves a Fetch handler with Node's HTTP server. Node's modules are imported dynamically, because bundles for other
// platforms contain this file too.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import type { ToolServer } from "../create-tool-server.ts";

/** Where a tool server listens. */
export interface ServeOptions {
  /** A free port by default. */
  readonly port?: number;
  /** Address to listen on. Loopback by default, so that other machines have no access. */
  readonly host?: string;
}

/** A listening tool server. */
export interface Serving {
  /** The address for hosts, such as `http://127.0.0.1:8793`. */
  readonly url: string;
  /** The port. If the options named none, the free port that was chosen. */
  readonly port: number;
  /** Stops listening, and closes the tool server. */
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
      // Limits slow requests that would hold a connection open.
      requestTimeout: 60_000,
      headersTimeout: 15_000,
      connectionsCheckingInterval: 5000,
      // Longer than hosts keep idle connections: a notice is lost if the connection closes while it is being sent.
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
    // A large backlog, because a host may close many threads at once.
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
    // After an unread body the connection cannot be reused: the next request would start in the middle of that body.
    ...(!incoming.complete && { Connection: "close" }),
  });
  outgoing.end(body);
}

/** Converts Node's request to a Fetch `Request`. Undefined if that is impossible, such as for an unknown method. */
function requestOf(
  incoming: IncomingMessage,
  authority: string,
  stream: typeof Readable,
): Request | undefined {
  const { method = "GET", headers, rawHeaders, url = "/" } = incoming;
  const named = `http://${headers.host ?? authority}`;
  const target = new URL(URL.canParse(named) ? named : `http://${authority}`);
  // Path and query are set separately, because `new URL` would take a path that begins with `//` for a host name.
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
