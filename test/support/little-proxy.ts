import { once } from "node:events";
import { createServer, request as send } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { onTestFinished } from "vitest";

interface ProxyOptions {
  /** The target URL for each known `HOST:PORT`. */
  readonly routes: Readonly<Record<string, URL>>;
  /** The required value of `Proxy-Authorization`. */
  readonly authorization?: string;
  /** Speaks TLS itself. */
  readonly certificate?: { readonly key: string; readonly cert: string };
}

export interface LittleProxy {
  readonly url: string;
  /** The requests so far: `CONNECT host:443`, `POST http://host/path`. */
  readonly asked: string[];
}

/** Starts a real proxy for plain HTTP and for tunnels. It resolves names by a table. */
export async function littleProxy({
  routes,
  authorization,
  certificate,
}: ProxyOptions): Promise<LittleProxy> {
  const asked: string[] = [];
  const server = certificate === undefined ? createServer() : createSecureServer(certificate);
  const isRefused = (given: string | undefined): boolean =>
    authorization !== undefined && given !== authorization;
  server.on("request", (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const { host, port, pathname, search } = new URL(request.url!);
    const route = routes[port === "" ? `${host}:80` : host];
    if (isRefused(request.headers["proxy-authorization"])) return void response.writeHead(407).end();
    if (route === undefined) return void response.writeHead(502).end();
    const { "proxy-authorization": _, ...headers } = request.headers;
    const onward = send(
      new URL(`${pathname}${search}`, route),
      { method: request.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  server.on("connect", (request, socket, head) => {
    asked.push(`CONNECT ${request.url}`);
    const route = routes[request.url!];
    if (isRefused(request.headers["proxy-authorization"]))
      return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    if (route === undefined) return void socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    const onward = connect(Number(route.port), route.hostname, () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `${certificate === undefined ? "http" : "https"}://127.0.0.1:${port}`, asked };
}
