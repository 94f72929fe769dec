// Not the whole table of the protocol: hello is all that is needed here.
import { check } from "@bobbin/protocol/check";
import { InitializeParams } from "@bobbin/protocol/initialize";
import { Frame, type Link, type LinkEvents } from "@bobbin/rpc";
import type { Host } from "../host.ts";
import type { Timers } from "../platform/platform.ts";
import type { Client } from "../server/connection.ts";
import { readFrame } from "../server/frames.ts";
import { greet } from "../server/greeting.ts";
import type { LinkMeta } from "../server/listen/door.ts";
import type { ShutdownCounts } from "../thread/unloads.ts";

/**
 * Stands in for a host that is not loaded yet: whoever says hello is answered at once, as the host would, and then is
 * the host's. So a start takes as long as hello does, however much the host can do.
 */
export class LateHost {
  /** Rejects if there is no host to be had. */
  readonly host: Promise<Host>;
  readonly #home: string;
  /** Starts the load; once, however often it is called. */
  readonly #begin: () => void;
  #loaded: Host | undefined;

  /**
   * `patienceMs`: how long the load waits for a first client, whose hello would wait for it. Without it the load begins
   * at once, which is right where the client is there already.
   */
  constructor(
    home: string,
    timers: Pick<Timers, "soon" | "after">,
    load: () => Promise<Host>,
    patienceMs?: number,
  ) {
    this.#home = home;
    let begin!: () => void;
    this.host = new Promise((resolve) => {
      let begun = false;
      begin = () => {
        // Not before what waits to be read was read.
        if (!begun) timers.soon(() => resolve(load()));
        begun = true;
      };
    });
    this.#begin = begin;
    this.host.then(
      (host) => {
        this.#loaded = host;
      },
      // Whoever asks for the host is told that there is none.
      () => {},
    );
    if (patienceMs === undefined) begin();
    else timers.after(patienceMs, begin);
  }

  accept(link: Link, meta: LinkMeta): LinkEvents {
    if (this.#loaded !== undefined) return this.#loaded.accept(link, meta);
    const first = new FirstWords(link, this.#home, this.#begin);
    this.host.then((host) => first.over(host.accept(link, meta, first.client))).catch(() => {});
    return first;
  }

  /** What its end waits for, in words. */
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

/** Characters of one client that wait for the host. */
const MAX_WAITING = 1024 * 1024;

/** What a client says before the host is there: told to it then, but for a hello that was answered. */
class FirstWords implements LinkEvents {
  readonly #link: Link;
  readonly #home: string;
  readonly #heard: () => void;
  #waiting: ((events: LinkEvents) => void)[] = [];
  /** Of the messages that wait. */
  #length = 0;
  #events: LinkEvents | undefined;
  client: Client | undefined;

  /** `heard` is called when the client says something: the host is needed soon. */
  constructor(link: Link, home: string, heard: () => void) {
    this.#link = link;
    this.#home = home;
    this.#heard = heard;
  }

  message(text: string): void {
    if (this.#events !== undefined) return this.#events.message(text);
    if (this.#waiting.length === 0 && this.#isHello(text)) return this.#heard();
    this.#wait(text.length, (events) => events.message(text));
  }

  oversized(bytes: number): void {
    this.#tell((events) => events.oversized(bytes));
  }

  undecodable(): void {
    this.#tell((events) => events.undecodable());
  }

  drained(): void {
    this.#tell((events) => events.drained());
  }

  closed(): void {
    this.#tell((events) => events.closed());
  }

  over(events: LinkEvents): void {
    this.#events = events;
    if (this.#length >= MAX_WAITING) this.#link.resume();
    for (const tell of this.#waiting.splice(0)) tell(events);
  }

  #tell(tell: (events: LinkEvents) => void): void {
    if (this.#events === undefined) this.#wait(0, tell);
    else tell(this.#events);
  }

  #wait(length: number, tell: (events: LinkEvents) => void): void {
    this.#waiting.push(tell);
    const before = this.#length;
    this.#length += length;
    // Whoever says more than that waits with the rest until someone listens.
    if (before < MAX_WAITING && this.#length >= MAX_WAITING) this.#link.pause();
    this.#heard();
  }

  /** Whatever is wrong with it is the host's to tell. */
  #isHello(text: string): boolean {
    const frame = readFrame(text);
    if (this.client !== undefined || frame.kind !== "request" || frame.method !== "initialize") return false;
    const params = frame.params ?? {};
    if (check(InitializeParams, params, { experimental: false, method: "initialize" }) !== undefined)
      return false;
    try {
      const { client, result } = greet(this.#home, params as InitializeParams);
      this.client = client;
      this.#link.send(new Frame(`{"id":${frame.id.json},"result":${JSON.stringify(result)}}`));
      return true;
    } catch {
      return false;
    }
  }
}
