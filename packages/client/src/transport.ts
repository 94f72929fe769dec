/** A client's connection to a host. Carries whole JSON texts in both directions. */
export interface Transport {
  /** Never throws. A text that is sent after the end is dropped. */
  send(text: string): void;
  /** Flushes sent texts, then closes the connection; `closed` is called when it has ended. Idempotent. */
  close(): void;
}

/** What a transport reports to the client. */
export interface TransportEvents {
  /** Called with each whole JSON text that arrives. */
  message(text: string): void;
  /** Called once. No other event follows. */
  closed(why: string): void;
}

/** Starts a transport. It must not call `events` before it has returned. */
export type OpenTransport = (events: TransportEvents) => Transport;
