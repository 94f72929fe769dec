import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { freePort } from "../free-port.ts";
import { EVERYTHING } from "../mcp-stage.ts";
import type { AuthorizationServer } from "./authorization-server.ts";

/** A real MCP server over streamable HTTP that requires bearer tokens. */
export class GuardedServer {
  readonly url: string;
  /** The tokens of all requests, in order; null for a request without a token. */
  readonly seen: (string | null)[] = [];
  /** The headers of each request, in lower case. */
  readonly headers: NodeJS.Dict<string | string[]>[] = [];
  /** Whether its 401 reply says where its metadata is. */
  challenges = true;
  /** Whether it serves protected resource metadata. */
  describes = true;
  readonly #close: () => Promise<void>;
  readonly #port: number;
  readonly #authorization: AuthorizationServer;

  private constructor(
    url: string,
    port: number,
    authorization: AuthorizationServer,
    close: () => Promise<void>,
  ) {
    this.url = url;
    this.#port = port;
    this.#authorization = authorization;
    this.#close = close;
  }

  static async start(authorization: AuthorizationServer): Promise<GuardedServer> {
    const inner = await freePort();
    const program = spawn(process.execPath, [EVERYTHING, "streamableHttp"], {
      env: { ...process.env, PORT: String(inner) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    await listening(program);
    const http = createServer((request, response) => void server.#serve(request, response));
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const { port } = http.address() as AddressInfo;
    const server = new GuardedServer(`http://127.0.0.1:${port}/mcp`, inner, authorization, async () => {
      if (program.exitCode === null && program.signalCode === null) {
        const gone = new Promise((resolve) => program.once("exit", resolve));
        program.kill("SIGKILL");
        await gone;
      }
      await new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      });
    });
    return server;
  }

  close(): Promise<void> {
    return this.#close();
  }

  get #metadata(): string {
    return `${new URL(this.url).origin}/.well-known/oauth-protected-resource/mcp`;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === new URL(this.#metadata).pathname && this.describes) {
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          resource: this.url,
          authorization_servers: [this.#authorization.issuer],
          scopes_supported: ["files"],
        }),
      );
      return;
    }
    if (request.url !== "/mcp") return void response.writeHead(404).end();
    this.headers.push({ ...request.headers });
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? null;
    this.seen.push(token);
    if (token === null || !(await this.#authorization.accepts(token, this.url))) {
      const where = this.challenges ? ` resource_metadata="${this.#metadata}"` : "";
      response.writeHead(401, { "www-authenticate": `Bearer${where}` }).end();
      return;
    }
    const { authorization: _, ...headers } = request.headers;
    const inner = send(
      { host: "127.0.0.1", port: this.#port, path: "/mcp", method: request.method, headers },
      (reply) => {
        response.writeHead(reply.statusCode!, reply.headers);
        reply.pipe(response);
      },
    );
    inner.on("error", () => response.destroy());
    response.on("close", () => inner.destroy());
    request.pipe(inner);
  }
}

function listening({ stdout, stderr }: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    const hear = (text: string): void => {
      said += text;
      if (said.includes("listening on port")) resolve();
    };
    stdout!.setEncoding("utf8").on("data", hear);
    stderr!.setEncoding("utf8").on("data", hear);
    stdout!.once("end", () => reject(new Error(`the MCP server ended: ${said}`)));
  });
}
