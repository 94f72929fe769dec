// A tool server that behaves as a test wants. It is a real listener, and uses no code of Bobbin.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { eventually } from "./eventually.ts";
import { atFileEnd } from "./file-end.ts";
import { ownAddress } from "./own-address.ts";

export interface Heard {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  /** As it came. */
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was sent.
  readonly body: any;
}

export type Behave = (response: ServerResponse, heard: Heard) => void | Promise<void>;

export interface ToolOptions {
  readonly description?: string;
  readonly inputSchema?: object;
  readonly annotations?: object;
}

/** The JSON of a toolset whose endpoint is the `FakeToolServer`. */
export function toolset(
  url: string,
  tools: Readonly<Record<string, ToolOptions>>,
  more: object = {},
): Record<string, unknown> {
  return {
    name: "desk",
    endpoint: `${url}/invoke`,
    tools: Object.entries(tools).map(([name, options]) => ({
      name,
      description: `Does ${name}.`,
      inputSchema: { type: "object" },
      ...options,
    })),
    ...more,
  };
}

export const ok: Behave = (response) => void response.writeHead(200).end();
export const status =
  (code: number, headers: Record<string, string> = {}): Behave =>
  (response) =>
    void response.writeHead(code, headers).end();
export const json =
  (value: unknown): Behave =>
  (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(typeof value === "string" ? value : JSON.stringify(value));
  };
/** Accepts the request and never answers. */
export const hang: Behave = () => {};
/** Accepts the request and drops the connection. */
export const reset: Behave = (response) => void response.socket?.resetAndDestroy();
/** Answers so slowly that a client should not wait for the end. */
export const drip: Behave = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const timer = setInterval(() => response.write(" "), 20);
  response.on("close", () => clearInterval(timer));
};

export class FakeToolServer {
  readonly heard: Heard[] = [];
  readonly url: string;
  /** The behaviour by path. By default, `/invoke` and the notices are accepted, and everything else is unknown. */
  readonly on = new Map<string, Behave>([
    ["/invoke", ok],
    ["/close_thread", ok],
    ["/cancel_tool_call", ok],
  ]);
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    const { address, port } = server.address() as AddressInfo;
    this.url = `http://${address}:${port}`;
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => {});
    });
    server.on("request", (request, response) => void this.#take(request, response));
  }

  static async start(
    tools: Readonly<Record<string, ToolOptions>> = {},
    { name = "desk", address = ownAddress() }: { readonly name?: string; readonly address?: string } = {},
  ): Promise<FakeToolServer> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(0, address, resolve);
    });
    const fake = new FakeToolServer(server);
    if (Object.keys(tools).length > 0) fake.offer(toolset(fake.url, tools, { name }));
    open.add(fake);
    return fake;
  }

  /** Sets the toolset for later discoveries. */
  offer(value: unknown): void {
    this.on.set("/.well-known/rap-toolset", json(value));
  }

  /** The requests to a path, in order. */
  at(path: string): Heard[] {
    return this.heard.filter((one) => one.path === path);
  }

  /** The nth request to a path. Waits for it. */
  async next(path: string, nth = 1): Promise<Heard> {
    await eventually(() => this.at(path).length >= nth, `${nth} requests to ${path}`);
    return this.at(path)[nth - 1]!;
  }

  get sockets(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    open.delete(this);
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const text = Buffer.concat(chunks).toString();
    const { pathname } = new URL(request.url!, this.url);
    const heard: Heard = {
      method: request.method!,
      path: pathname,
      headers: request.headers,
      text,
      body: text === "" ? undefined : JSON.parse(text),
    };
    this.heard.push(heard);
    await (this.on.get(pathname) ?? status(404))(response, heard);
  }
}

/** Posts to a callback URL as a tool server does. Returns the status of the reply. */
export async function postBack(
  url: string,
  message: unknown,
  headers: Record<string, string> = {},
): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof message === "string" ? message : JSON.stringify(message),
  });
  await response.arrayBuffer();
  return response.status;
}

const open = new Set<FakeToolServer>();
atFileEnd(async () => {
  await Promise.all([...open].map((server) => server.close()));
});
