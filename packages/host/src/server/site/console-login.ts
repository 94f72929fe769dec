import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Refusal } from "../listen/http-refusal.ts";
import type { Principal } from "../listen/listener.ts";

export interface ConsoleLoginPorts {
  now(): number;
  random(bytes: number): Buffer;
  /** Signs session keys. Stored in the home, so that a page stays logged in after a restart of the host. */
  readonly secret: Buffer;
}

const TOKEN_MS = 10 * 60_000;
const TICKET_MS = 30_000;
const SESSION_MS = 30 * 24 * 60 * 60_000;
/** Limit on the remembered tokens, including used ones. */
const MAX_TOKENS = 256;
const MAX_TICKETS = 4096;
const SECRET_BYTES = 32;
const KEY_PREFIX = "bobbin-session.";

interface Token {
  readonly expires: number;
  used: boolean;
}

interface Ticket {
  readonly principal: Principal;
  readonly origin: string;
  readonly expires: number;
}

/**
 * The login for browsers, which cannot send a bearer token with a WebSocket. The host's user gets a one-time token on
 * the terminal and exchanges it for a session key. A session key, or another bearer token, is exchanged for a ticket.
 */
export class ConsoleLogin {
  readonly #ports: ConsoleLoginPorts;
  /** Stored by their digests, oldest first, so that a copy of the memory contains no usable token. */
  readonly #tokens = new Map<string, Token>();
  readonly #tickets = new Map<string, Ticket>();

  constructor(ports: ConsoleLoginPorts) {
    this.#ports = ports;
  }

  /** Issues a token for the host's own user. It can be used once, within ten minutes. */
  issueToken(): string {
    const token = this.#random();
    for (const oldest of this.#tokens.keys()) {
      if (this.#tokens.size < MAX_TOKENS) break;
      this.#tokens.delete(oldest);
    }
    this.#tokens.set(digest(token), { expires: this.#ports.now() + TOKEN_MS, used: false });
    return token;
  }

  /** Exchanges a token for a session key. */
  redeem(token: string): { readonly key: string; readonly expiresAtMs: number } | Refusal {
    const known = this.#tokens.get(digest(token));
    if (known === undefined) return refused("consoleTokenUnknown", "this link is not valid");
    if (known.used) return refused("consoleTokenUsed", "this link was used before");
    const now = this.#ports.now();
    if (known.expires <= now) return refused("consoleTokenExpired", "this link has expired");
    known.used = true;
    const expiresAtMs = now + SESSION_MS;
    const claims = `${expiresAtMs}.${this.#ports.random(8).toString("base64url")}`;
    return { key: `${KEY_PREFIX}${claims}.${this.#sign(claims)}`, expiresAtMs };
  }

  /** Whether a bearer token is a session key, valid or not. */
  isKey(bearer: string): boolean {
    return bearer.startsWith(KEY_PREFIX);
  }

  /** Returns the identity of a session key's holder: the host's own user. */
  verifyKey(key: string): { readonly principal: Principal } | Refusal {
    const [, claims, expires, signature] =
      /^bobbin-session\.((\d{1,16})\.[\w-]{1,32})\.([\w-]{1,64})$/.exec(key) ?? [];
    const isOurs = claims !== undefined && isEqual(signature!, this.#sign(claims));
    if (!isOurs) return refused("sessionInvalid", "the session key is not valid");
    if (Number(expires) <= this.#ports.now()) return refused("sessionExpired", "the session has expired");
    return { principal: { kind: "token" } };
  }

  /** Issues a ticket for one WebSocket of one web page, valid for 30 seconds. */
  issueTicket(
    principal: Principal,
    origin: string,
  ): { readonly ticket: string; readonly ms: number } | Refusal {
    const now = this.#ports.now();
    // The tickets are in the order of their expiry.
    for (const [known, { expires }] of this.#tickets) {
      if (expires > now) break;
      this.#tickets.delete(known);
    }
    if (this.#tickets.size >= MAX_TICKETS)
      return { status: 503, code: "tooManyTickets", message: "too many tickets are unused; try again later" };
    const ticket = this.#random();
    this.#tickets.set(digest(ticket), { principal, origin: normalized(origin), expires: now + TICKET_MS });
    return { ticket, ms: TICKET_MS };
  }

  /** Returns the identity of a ticket's holder. Does not use the ticket up. */
  checkTicket(ticket: string, origin: string | undefined): { readonly principal: Principal } | Refusal {
    const known = this.#tickets.get(digest(ticket));
    if (known === undefined || known.expires <= this.#ports.now())
      return refused(
        "ticketInvalid",
        "the ticket is unknown, used or expired; get another one from POST /ticket",
      );
    if (origin === undefined || known.origin !== normalized(origin))
      return { status: 403, code: "ticketOrigin", message: "the ticket is for pages of another origin" };
    return { principal: known.principal };
  }

  /** Uses a ticket up. Returns false if it was used before. */
  takeTicket(ticket: string): boolean {
    return this.#tickets.delete(digest(ticket));
  }

  #random(): string {
    return this.#ports.random(SECRET_BYTES).toString("base64url");
  }

  #sign(claims: string): string {
    return createHmac("sha256", this.#ports.secret).update(claims).digest("base64url");
  }
}

function refused(code: string, what: string): Refusal {
  const isTicket = code.startsWith("ticket");
  const message = isTicket ? what : `${what}; run \`bobbin open\` on the host's machine for a new one`;
  return { status: 401, code, message, headers: { "WWW-Authenticate": "Bearer" } };
}

function digest(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url");
}

function isEqual(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(digest(one)), Buffer.from(digest(other)));
}

function normalized(origin: string): string {
  return origin.trim().toLowerCase().replace(/\/$/, "");
}
