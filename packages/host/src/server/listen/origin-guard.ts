import type { IncomingMessage } from "node:http";
import { ambiguityOf } from "../../platform/http-listener-limits.ts";
import type { Refusal } from "./http-refusal.ts";
import { isLoopbackAddress, isLoopbackHost } from "./loopback.ts";

export interface OriginGuardOptions {
  /**
   * Whether the listener can be reached only from this machine. Then a foreign name in `Host` means DNS rebinding.
   */
  readonly loopback: boolean;
  /** Origins of other web pages that may connect, as browsers send them. */
  readonly allowedOrigins?: readonly string[];
}

/**
 * Refuses foreign web pages. Browsers let any page open a WebSocket to any address, but they send the page's
 * `Origin`. With DNS rebinding, the browser takes a foreign page for same-origin, and only `Host` reveals it.
 */
export class OriginGuard {
  readonly #loopback: boolean;
  readonly #allowed: ReadonlySet<string>;

  constructor(options: OriginGuardOptions) {
    this.#loopback = options.loopback;
    this.#allowed = new Set((options.allowedOrigins ?? []).map(normalizeOrigin));
  }

  /** Refuses a request that a proxy could have interpreted differently. */
  checkShape(request: IncomingMessage): Refusal | undefined {
    const message = ambiguityOf(request);
    return message === undefined ? undefined : { status: 400, code: "badRequest", message };
  }

  checkOrigin(request: IncomingMessage): Refusal | undefined {
    const origin = request.headers.origin;
    if (origin === undefined || this.#allowed.has(normalizeOrigin(origin)) || isOwn(origin, request)) return;
    return {
      status: 403,
      code: "originRefused",
      message: `web pages of ${origin} may not connect; if they should, start the host with --allow-origin ${origin}`,
    };
  }

  checkHost(request: IncomingMessage): Refusal | undefined {
    if (!this.#loopback) return;
    const host = request.headers.host;
    // Any port is accepted, because it may be a forwarded one. DNS rebinding shows in the host name.
    if (host !== undefined && isLoopbackHost(hostname(host))) return;
    return {
      status: 403,
      code: "hostRefused",
      message: "this listener serves this machine only; address it as localhost or by its loopback address",
    };
  }
}

/** Whether the origin is a page that this host served: from the address of the request, or from a loopback name. */
function isOwn(origin: string, request: IncomingMessage): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  const { localAddress, localPort } = request.socket;
  if (url?.protocol !== "http:" || url.origin !== origin.toLowerCase() || localAddress === undefined)
    return false;
  const forwarded = request.headers.host?.toLowerCase() === url.host;
  if (!forwarded && Number(url.port || 80) !== localPort) return false;
  if (isLoopbackAddress(localAddress)) return isLoopbackHost(url.hostname);
  return url.hostname === asHostname(localAddress);
}

/** An address as in URLs. An IPv4-mapped IPv6 address becomes IPv4. */
function asHostname(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  return plain.includes(":") ? `[${plain}]` : plain;
}

/** The host name in a `Host` header, without the port. */
function hostname(host: string): string {
  return /^(\[[^\]]*\]|[^:]*)(:\d*)?$/.exec(host)?.[1] ?? "";
}

function normalizeOrigin(origin: string): string {
  return origin.trim().toLowerCase().replace(/\/$/, "");
}
