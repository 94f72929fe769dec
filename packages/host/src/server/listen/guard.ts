import type { IncomingMessage } from "node:http";
import { ambiguityOf } from "../../platform/http-connections.ts";
import { isLoopbackAddress, isLoopbackHost } from "./loopback.ts";
import type { Refusal } from "./refusal.ts";

export interface GuardOptions {
  /** True when only this machine can reach the listener, so that a foreign name in Host is a rebound one. */
  readonly loopback: boolean;
  /** Origins of web pages that may connect besides our own, each as the browser spells it. */
  readonly allowedOrigins?: readonly string[];
}

/**
 * Keeps foreign web pages out. Browsers let any page open a WebSocket to any address and send its `Origin`;
 * a page can also have its own name resolve to our address, which makes it same-origin to the browser, and
 * then only `Host` tells.
 */
export class Guard {
  readonly #loopback: boolean;
  readonly #allowed: ReadonlySet<string>;

  constructor(options: GuardOptions) {
    this.#loopback = options.loopback;
    this.#allowed = new Set((options.allowedOrigins ?? []).map(normalizeOrigin));
  }

  /** Refuses a request that a proxy in front of us could have read in another way. */
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
      message: `web pages of ${origin} may not connect; add the origin to the allowed ones if they should`,
    };
  }

  checkHost(request: IncomingMessage): Refusal | undefined {
    if (!this.#loopback) return;
    const host = request.headers.host;
    // Any port passes: a port forwarded from elsewhere need not be ours, and a rebound name is told by name.
    if (host !== undefined && isLoopbackHost(hostname(host))) return;
    return {
      status: 403,
      code: "hostRefused",
      message: "this listener serves this machine only; address it as localhost or by its loopback address",
    };
  }
}

/** A page that we served: from the very address that the request came to, or from a loopback name of it. */
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

/** An address as URLs write it; one of IPv4 on a socket for both families is of IPv4. */
function asHostname(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  return plain.includes(":") ? `[${plain}]` : plain;
}

/** Of a Host header, without the port. */
function hostname(host: string): string {
  return /^(\[[^\]]*\]|[^:]*)(:\d*)?$/.exec(host)?.[1] ?? "";
}

function normalizeOrigin(origin: string): string {
  return origin.trim().toLowerCase().replace(/\/$/, "");
}
