import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf } from "../errors.ts";
import { isHostUser } from "./host-user.ts";
import type { Authenticate } from "./listen/authenticate.ts";
import type { Guard } from "./listen/guard.ts";
import { CLOSING, type Refusal, refuse } from "./listen/refusal.ts";
import { pageHeaders, renderPage, renderStatus, type StatusRow } from "./page.ts";

/** What the host shows over plain HTTP. */
export interface Site {
  readonly version?: string;
  /** Prometheus text. */
  readonly metrics?: () => Promise<string>;
  /** Told on the page to whoever may connect anyway: nothing that is not theirs to know. */
  readonly status?: () => Promise<readonly StatusRow[]>;
}

export interface HttpOptions {
  readonly site: Site;
  readonly guard: Guard;
  readonly authenticate?: Authenticate;
  /** False once the door is closing. */
  readonly ready: () => boolean;
  readonly url: () => string;
}

type Reply = {
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The HTTP side of a socket listener: probes, metrics, and a page for people. No request body is read. */
export function httpHandler(
  options: HttpOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    answer(options, request).then(
      (reply) => {
        if ("status" in reply) return refuse(response, reply);
        // Nobody reads the body, however long it is.
        if (hasBody(request)) response.shouldKeepAlive = false;
        send(response, reply);
      },
      (error: unknown) => {
        const message = messageOf(error);
        refuse(response, { status: 500, code: "internal", message });
      },
    );
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

async function answer(options: HttpOptions, request: IncomingMessage): Promise<Reply | Refusal> {
  const { guard, site, authenticate } = options;
  const path = (request.url ?? "/").split("?", 1)[0];
  const foreign = guard.checkShape(request) ?? guard.checkOrigin(request);
  if (foreign) return foreign;
  const isProbe = path === "/readyz" || path === "/healthz";
  // Probes come under whatever name the machine that sends them knows, and learn nothing but "ok".
  const rebound = isProbe ? undefined : guard.checkHost(request);
  if (rebound) return rebound;
  if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed(request.method);
  const denied = (whom: "strangers" | "subjects"): Refusal | undefined => {
    const outcome = authenticate?.(request.headers.authorization);
    if (outcome === undefined || "status" in outcome) return outcome;
    return whom === "subjects" && !isHostUser(outcome.principal) ? notPermitted(path!) : undefined;
  };
  switch (path) {
    case "/healthz":
      return text("ok\n");
    case "/readyz":
      return options.ready() ? text("ok\n") : CLOSING;
    case "/metrics":
      // It names threads, whoever's they are.
      return denied("subjects") ?? (site.metrics ? metrics(await site.metrics()) : notFound(path));
    case "/":
      return html(
        renderPage({
          url: addressed(request, options.url()),
          needsToken: authenticate !== undefined,
          // Behind a token the frame would only show that one is missing.
          statusRows: authenticate ? 0 : ((await site.status?.())?.length ?? 0),
          ...(site.version !== undefined && { version: site.version }),
        }),
        pageHeaders("none"),
      );
    case "/status":
      return (
        denied("strangers") ??
        (site.status ? html(renderStatus(await site.status()), pageHeaders("self")) : notFound(path))
      );
    default:
      return notFound(path ?? "/");
  }
}

/** The address as the reader knows it, who may have come through a forwarded port. */
function addressed(request: IncomingMessage, url: string): string {
  const host = request.headers.host;
  return url.startsWith("ws:") && host && /^[\w.:[\]-]+$/.test(host) ? `ws://${host}` : url;
}

function send(response: ServerResponse, reply: Reply): void {
  response.writeHead(200, {
    ...reply.headers,
    "Content-Type": reply.type,
    "Content-Length": Buffer.byteLength(reply.body),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  });
  response.end(reply.body);
}

const text = (body: string): Reply => ({ type: "text/plain; charset=utf-8", body });
const html = (body: string, headers: Record<string, string>): Reply => ({
  type: "text/html; charset=utf-8",
  body,
  headers,
});
const metrics = (body: string): Reply => ({ type: "text/plain; version=0.0.4; charset=utf-8", body });

function notFound(path: string): Refusal {
  return {
    status: 404,
    code: "notFound",
    message: `nothing is served at ${path}; try /, /readyz, /healthz or /metrics, or connect with a WebSocket`,
  };
}

function notPermitted(path: string): Refusal {
  return {
    status: 403,
    code: "notPermitted",
    message: `${path} is for the host's own user, not for a token that names a subject`,
  };
}

function methodNotAllowed(method: string | undefined): Refusal {
  return {
    status: 405,
    code: "methodNotAllowed",
    message: `${method} is not served here, only GET; the protocol itself is spoken over a WebSocket`,
    headers: { Allow: "GET, HEAD" },
  };
}
