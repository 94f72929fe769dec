import type { Frame } from "./outgoing-frame.ts";

/**
 * A client's connection as the host sees it: whole messages in, whole messages out. Each transport (stdio, WebSocket,
 * Unix socket, in-memory pair) implements it, and no other code depends on the kind of transport.
 */
export interface Link {
  /** Bytes that were passed to `send` and are not written yet. */
  readonly backlog: number;
  /**
   * Sends a frame. Never throws; after the end of the connection, frames are dropped. With `mayWait`, a transport
   * that batches messages may wait a moment for more. The order of frames is kept.
   */
  send(frame: Frame, mayWait?: boolean): void;
  /** Stops reading, as backpressure against a client that does not read its replies. */
  pause(): void;
  /** Continues reading after `pause`. */
  resume(): void;
  /** Flushes sent frames, then closes the connection, by force after `graceMs`. Idempotent. */
  close(reason: CloseReason, graceMs?: number): Promise<void>;
}

/**
 * Why the host closes a connection. WebSocket transports map it to a close code. `slow`: the client reads too slowly.
 */
export type CloseReason = "normal" | "shutdown" | "slow" | "protocol";

/** Events of a link, which its transport calls. */
export interface LinkEvents {
  /** One whole message, without its LF. */
  message(text: string): void;
  /** A message over the size limit was skipped. `bytes` is its length, or the part of it that was counted. */
  oversized(bytes: number): void;
  /** Called for a message that is no valid text (a binary WebSocket frame, or bytes that are not UTF-8). */
  undecodable(): void;
  /** `backlog` fell to zero. */
  drained(): void;
  /** Called exactly once, when the connection has ended on either side. No other event follows. */
  closed(): void;
}

/** Size limit of an incoming message. A longer one is skipped and reported as `oversized`. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
