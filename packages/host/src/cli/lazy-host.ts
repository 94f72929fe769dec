// Imports only `initialize` and not the protocol's whole method table, which would slow down the start.
import { check } from "@bobbin/protocol/check";
import { InitializeParams } from "@bobbin/protocol/initialize";
import { Frame, type Link, type LinkEvents } from "@bobbin/rpc";
import type { Host } from "../host.ts";
import type { Timers } from "../platform/platform.ts";
import type { Client } from "../server/connection.ts";
import { readFrame } from "../server/incoming-frames.ts";
import { initializeHandshake } from "../server/initialize-handshake.ts";
import type { LinkMeta } from "../server/listen/listener.ts";
import type { ShutdownCounts } from "../thread/thread-unloader.ts";

/**
 * Accepts connections while the host's modules are still being loaded. It answers `initialize` itself, as the host
 * would, and then hands the connection over, so that a client does not wait for the load.
 */
export class LazyHost {
  /** Rejects if the host cannot be loaded. */
  readonly host: Promise<Host>;
  /** Resolves when a first client was answered, or the load begins for another reason. */
  readonly begun: Promise<void>;
  readonly #home: string;
  /** Starts the load. Idempotent. */
  readonly #begin: () => void;
  #loaded: Host | undefined;

  /**
   * `loadDelayMs` delays the load, because loading would block the `initialize` of a client that connects in the
   * meantime. Without it the load begins at once, as is right for stdio, where the client is already connected.
   */
  constructor(
    home: string,
    timers: Pick<Timers, "soon" | "after">,
    load: () => Promise<Host>,
    loadDelayMs?: number,
  ) {
    this.#home = home;
    let signalBegun!: () => void;
    this.begun = new Promise((resolve) => {
      signalBegun = resolve;
    });
    let begin!: () => void;
    this.host = new Promise((resolve) => {
      let begun = false;
      begin = () => {
        // Messages that have already arrived are handled before the load, which blocks the event loop.
        if (!begun) timers.soon(() => resolve(load()));
        begun = true;
        signalBegun();
      };
    });
    this.#begin = begin;
    this.host.then(
      (host) => {
        this.#loaded = host;
      },
      // The callers that await `host` report the error.
      () => {},
    );
    if (loadDelayMs === undefined) begin();
    else timers.after(loadDelayMs, begin);
  }

  accept(link: Link, meta: LinkMeta): LinkEvents {
    if (this.#loaded !== undefined) return this.#loaded.accept(link, meta);
    const first = new EarlyConnection(link, this.#home, this.#begin);
    this.host.then((host) => first.handOver(host.accept(link, meta, first.client))).catch(() => {});
    return first;
  }

  /** The work that the shutdown waits for, described for the log. */
  pending(): readonly string[] {
    return this.#loaded?.pending() ?? ["the start"];
  }

  counts(): ReturnType<Host["counts"]> {
    return this.#loaded?.counts() ?? { threads: 0, turns: 0 };
  }

  async close(): Promise<ShutdownCounts> {
    this.#begin();
    return (await this.host).close();
  }
}

/** Limit on the characters that are buffered per client. At the limit, the link is paused. */
const MAX_WAITING = 1024 * 1024;

/** Buffers a client's messages until the host is loaded. Answers a valid `initialize` itself. */
class EarlyConnection implements LinkEvents {
  readonly #link: Link;
  readonly #home: string;
  readonly #onMessage: () => void;
  #waiting: ((events: LinkEvents) => void)[] = [];
  /** Total characters of the buffered messages. */
  #length = 0;
  #events: LinkEvents | undefined;
  client: Client | undefined;

  /** `onMessage`: called for each message, so that the load begins. */
  constructor(link: Link, home: string, onMessage: () => void) {
    this.#link = link;
    this.#home = home;
    this.#onMessage = onMessage;
  }

  message(text: string): void {
    if (this.#events !== undefined) return this.#events.message(text);
    if (this.#waiting.length === 0 && this.#answerInitialize(text)) return this.#onMessage();
    this.#wait(text.length, (events) => events.message(text));
  }

  oversized(bytes: number): void {
    this.#forward((events) => events.oversized(bytes));
  }

  undecodable(): void {
    this.#forward((events) => events.undecodable());
  }

  drained(): void {
    this.#forward((events) => events.drained());
  }

  closed(): void {
    this.#forward((events) => events.closed());
  }

  handOver(events: LinkEvents): void {
    this.#events = events;
    if (this.#length >= MAX_WAITING) this.#link.resume();
    for (const deliver of this.#waiting.splice(0)) deliver(events);
  }

  #forward(deliver: (events: LinkEvents) => void): void {
    if (this.#events === undefined) this.#wait(0, deliver);
    else deliver(this.#events);
  }

  #wait(length: number, deliver: (events: LinkEvents) => void): void {
    this.#waiting.push(deliver);
    const before = this.#length;
    this.#length += length;
    // `handOver` resumes the link.
    if (before < MAX_WAITING && this.#length >= MAX_WAITING) this.#link.pause();
    this.#onMessage();
  }

  /** Answers a valid `initialize` and returns true. Returns false for other messages, which the host has to answer. */
  #answerInitialize(text: string): boolean {
    const frame = readFrame(text);
    if (this.client !== undefined || frame.kind !== "request" || frame.method !== "initialize") return false;
    const params = frame.params ?? {};
    if (check(InitializeParams, params, { experimental: false, method: "initialize" }) !== undefined)
      return false;
    try {
      const { client, result } = initializeHandshake(this.#home, params as InitializeParams);
      this.client = client;
      this.#link.send(new Frame(`{"id":${frame.id.json},"result":${JSON.stringify(result)}}`));
      return true;
    } catch {
      return false;
    }
  }
}
