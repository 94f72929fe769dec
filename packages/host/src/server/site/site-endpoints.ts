import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf } from "../../errors.ts";
import { isHostUser } from "../host-user-check.ts";
import { CLOSING, type Refusal, refuse } from "../listen/http-refusal.ts";
import type { OriginGuard } from "../listen/origin-guard.ts";
import {
  answerConsoleLogin,
  CONSOLE_LOGIN_PATHS,
  type ConsoleLoginOptions,
} from "./console-login-endpoints.ts";
import { ASSET_HEADERS, CONSOLE_HEADERS, findAsset, renderConsole } from "./console-page.ts";
import { encodeFor } from "./content-encoding.ts";
import { hasBody } from "./json-body.ts";
import { pageHeaders, renderPage, renderStatus, type StatusRow } from "./landing-page.ts";
import type { StaticFilesByPath } from "./static-files.ts";

/** The content that the host serves over plain HTTP. */
export interface Site {
  readonly version?: string;
  /** Prometheus text format. */
  readonly metrics?: () => Promise<string>;
  /** Shown to everyone who may connect. Must contain nothing private. */
  readonly status?: () => Promise<readonly StatusRow[]>;
  /** The files of the console. Without them, `/` shows the page for people who connect programs. */
  readonly console?: () => Promise<StaticFilesByPath>;
}

export interface HttpOptions extends ConsoleLoginOptions {
  readonly site: Site;
  readonly guard: OriginGuard;
  /** Returns false once the listener is closing. */
  readonly ready: () => boolean;
  readonly url: () => string;
}

type Reply = {
  readonly type: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * The HTTP endpoints of a socket listener: probes, metrics, the console and its login, and a page for people who
 * connect programs.
 */
export function httpHandler(
  options: HttpOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    answer(options, request).then(
      (reply) => {
        if ("status" in reply) return refuse(response, reply);
        // If the body was not read, the connection is closed after the response.
        if (hasBody(request) && !request.readableEnded) response.shouldKeepAlive = false;
        send(response, reply);
      },
      (error: unknown) => {
        const message = messageOf(error);
        refuse(response, { status: 500, code: "internal", message });
      },
    );
  };
}

async function answer(options: HttpOptions, request: IncomingMessage): Promise<Reply | Refusal> {
  const { guard, site, authenticate } = options;
  const path = (request.url ?? "/").split("?", 1)[0];
  const foreign = guard.checkShape(request) ?? guard.checkOrigin(request);
  if (foreign) return foreign;
  const isProbe = path === "/readyz" || path === "/healthz";
  // Probes may use any host name, because they reveal nothing but "ok".
  const rebound = isProbe ? undefined : guard.checkHost(request);
  if (rebound) return rebound;
  if (CONSOLE_LOGIN_PATHS.has(path!)) {
    if (request.method !== "POST") return methodNotAllowed(request.method, "POST");
    const reply = await answerConsoleLogin(options, path!, request);
    return "status" in reply ? (reply as Refusal) : json(reply);
  }
  if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed(request.method);
  const denied = async (whom: "strangers" | "subjects"): Promise<Refusal | undefined> => {
    // A listener without authentication serves the same processes as over a WebSocket.
    if (authenticate === undefined) return options.checkCaller?.(request);
    const outcome = authenticate(request.headers.authorization);
    if ("status" in outcome) return outcome;
    return whom === "subjects" && !isHostUser(outcome.principal) ? notPermitted(path!) : undefined;
  };
  switch (path) {
    case "/healthz":
      return text("ok\n");
    case "/readyz":
      return options.ready() ? text("ok\n") : CLOSING;
    case "/metrics":
      // Refused for subjects, because metrics name threads of all owners.
      return (await denied("subjects")) ?? (site.metrics ? metrics(await site.metrics()) : notFound(path));
    case "/":
      return (await consolePage(options, request)) ?? programPage(options, request);
    case "/connect":
      return programPage(options, request);
    case "/status":
      return (
        (await denied("strangers")) ??
        (site.status ? html(renderStatus(await site.status()), pageHeaders("self")) : notFound(path))
      );
    default:
      return (await asset(site, path ?? "/", request)) ?? notFound(path ?? "/");
  }
}

async function consolePage({ site, authenticate, url }: HttpOptions, request: IncomingMessage) {
  const files = await site.console?.();
  const page =
    files &&
    renderConsole(files, {
      url: addressed(request, url()),
      needsToken: authenticate !== undefined,
      ...(site.version !== undefined && { version: site.version }),
    });
  return page === undefined ? undefined : html(page, CONSOLE_HEADERS);
}

/** The page that shows a person how to connect a program. It runs no script. */
async function programPage(
  { site, authenticate, url }: HttpOptions,
  request: IncomingMessage,
): Promise<Reply> {
  const page = renderPage({
    url: addressed(request, url()),
    needsToken: authenticate !== undefined,
    // With authentication, the status frame could only show an error.
    statusRows: authenticate ? 0 : ((await site.status?.())?.length ?? 0),
    ...(site.version !== undefined && { version: site.version }),
  });
  return html(page, pageHeaders("none"));
}

async function asset(site: Site, path: string, request: IncomingMessage): Promise<Reply | undefined> {
  const files = path.startsWith("/assets/") ? await site.console?.() : undefined;
  const file = files && findAsset(files, path);
  if (file === undefined) return undefined;
  const { body, headers } = encodeFor(file, request.headers["accept-encoding"]);
  return { type: file.type, body, headers: { ...ASSET_HEADERS, ...headers } };
}

/** The address that the reader's browser used. It may be that of a forwarded port. */
function addressed(request: IncomingMessage, url: string): string {
  const host = request.headers.host;
  return url.startsWith("ws:") && host && /^[\w.:[\]-]+$/.test(host) ? `ws://${host}` : url;
}

function send(response: ServerResponse, reply: Reply): void {
  response.writeHead(200, {
    "Cache-Control": "no-store",
    ...reply.headers,
    "Content-Type": reply.type,
    "Content-Length": Buffer.byteLength(reply.body),
    "X-Content-Type-Options": "nosniff",
  });
  response.end(reply.body);
}

const text = (body: string): Reply => ({ type: "text/plain; charset=utf-8", body });
const json = (value: object): Reply => ({ type: "application/json", body: `${JSON.stringify(value)}\n` });
const html = (body: string, headers: Readonly<Record<string, string>>): Reply => ({
  type: "text/html; charset=utf-8",
  body,
  headers,
});
const metrics = (body: string): Reply => ({ type: "text/plain; version=0.0.4; charset=utf-8", body });

function notFound(path: string): Refusal {
  return {
    status: 404,
    code: "notFound",
    message: `nothing is served at ${path}; try /, /connect, /readyz, /healthz or /metrics, or connect with a WebSocket`,
  };
}

function notPermitted(path: string): Refusal {
  return {
    status: 403,
    code: "notPermitted",
    message: `${path} is for the host's own user, not for a token that names a subject`,
  };
}

function methodNotAllowed(method: string | undefined, allowed: "GET" | "POST" = "GET"): Refusal {
  return {
    status: 405,
    code: "methodNotAllowed",
    message: `${method} is not served here, only ${allowed}; the protocol itself is spoken over a WebSocket`,
    headers: { Allow: allowed === "GET" ? "GET, HEAD" : "POST" },
  };
}
