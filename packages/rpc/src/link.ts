import type { Frame } from "./frame.ts";

/**
 * One client's wire as the rest of the host sees it: whole messages in, whole messages out. Transports
 * (stdio, WebSocket, Unix socket, the in-memory pair) implement it; nothing above knows which one it has.
 */
export interface Link {
  /** Bytes handed to `send` that the wire has not taken yet. */
  readonly backlog: number;
  /**
   * Never throws; what is sent after the end is dropped. `mayWait`: a wire that takes messages together may wait a moment
   * for more; what is sent later still comes later.
   */
  send(frame: Frame, mayWait?: boolean): void;
  /** Stop and go on reading: how a connection pushes back on a client that does not read its replies. */
  pause(): void;
  resume(): void;
  /** Writes out what was sent, then ends the wire; after `graceMs` it is cut. Idempotent. */
  close(reason: CloseReason, graceMs?: number): Promise<void>;
}

/** Why we end a wire; WebSocket transports turn it into a close code. */
export type CloseReason = "normal" | "shutdown" | "slow" | "protocol";

/** What a transport tells the connection that sits on its link. */
export interface LinkEvents {
  /** One whole message as it came, without its LF. */
  message(text: string): void;
  /** A message over the limit was skipped; `bytes` is how long it was, as far as it was counted. */
  oversized(bytes: number): void;
  /** A message that is no valid text (a binary WebSocket frame, bytes that are not UTF-8). */
  undecodable(): void;
  /** `backlog` fell to zero after it had not been. */
  drained(): void;
  /** The wire is gone, whoever ended it. Told exactly once, and nothing is told after it. */
  closed(): void;
}

/** A message of up to this many bytes is read; a longer one is skipped and reported as oversized. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
