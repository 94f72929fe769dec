import type { Link, LinkEvents } from "@bobbin/rpc";

/** Who is at the other end, as far as the transport could prove it. */
export type Principal =
  /** Reached us without credentials: stdio, a socket only this user can open, or a loopback listener. */
  | { readonly kind: "local" }
  /** Showed the capability token, or a signed token that names nobody. */
  | { readonly kind: "token" }
  /** Showed a signed token for this subject. */
  | { readonly kind: "subject"; readonly subject: string };

export interface LinkMeta {
  readonly transport: "stdio" | "websocket" | "unix";
  readonly principal: Principal;
  /** Remote address, where there is one; for logs only. */
  readonly peer?: string;
}

/** Called once for each client, before anything it sent is told. */
export type Accept = (link: Link, meta: LinkMeta) => LinkEvents;

/** A place where clients come in. */
export interface Door {
  /** Where clients reach it, with the real port when any was asked for. */
  readonly url: string;
  /**
   * Stops accepting at once and resolves when the last client is gone. Open links stay with whoever holds
   * them; those that are still there after `graceMs` are cut. Idempotent; a later, shorter grace counts.
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

/** Why a door could not be opened; the message says what to do instead. */
export class ListenError extends Error {
  readonly code: ListenErrorCode;

  constructor(code: ListenErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ListenError";
    this.code = code;
  }
}
