/** What a client speaks over: whole JSON texts in both directions. */
export interface Wire {
  /** Never throws; what is sent after the end is dropped. */
  send(text: string): void;
  /** Sends out what was sent, then ends the wire; `closed` is told when it is gone. Idempotent. */
  close(): void;
}

export interface WireEvents {
  message(text: string): void;
  /** Told once, and nothing after it. */
  closed(why: string): void;
}

/** Starts the wire; nothing is told before it returned. */
export type OpenWire = (events: WireEvents) => Wire;
