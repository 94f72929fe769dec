import type { Link, LinkEvents } from "@bobbin/rpc";

/** The identity of a client, as far as the transport has proved it. */
export type Principal =
  /** A client without credentials: on stdio, on a socket that only this user can open, or on a loopback listener. */
  | { readonly kind: "local" }
  /** A client with the capability token, or with a signed token without a subject. */
  | { readonly kind: "token" }
  /** A client with a signed token for this subject. */
  | { readonly kind: "subject"; readonly subject: string };

export interface LinkMeta {
  readonly transport: "stdio" | "websocket" | "unix";
  readonly principal: Principal;
  /** The remote address, for logs only. */
  readonly peer?: string;
}

/** Called once for each client, before its first message is delivered. */
export type Accept = (link: Link, meta: LinkMeta) => LinkEvents;

/** A listener for clients. */
export interface Listener {
  /** The URL for clients, with the real port if port 0 was asked for. */
  readonly url: string;
  /**
   * Stops accepting connections at once. Resolves when the last client has disconnected; open links are cut after
   * `graceMs`. Idempotent: of several calls, the shortest grace time counts.
   */
  close(graceMs: number): Promise<void>;
}

export type ListenErrorCode =
  | "badListenUrl"
  | "authRequired"
  | "badAuthFlags"
  | "badAuthSecret"
  | "addressInUse"
  | "addressUnavailable"
  | "socketInUse"
  | "notASocket"
  | "badSocketPath"
  | "listenFailed";

/** Why a listener could not be opened. The message says what to do instead. */
export class ListenError extends Error {
  readonly code: ListenErrorCode;

  constructor(code: ListenErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ListenError";
    this.code = code;
  }
}
