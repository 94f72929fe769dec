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
  #loaded: Host | undefined;

  constructor(home: string, timers: Pick<Timers, "soon">, load: () => Promise<Host>) {
    this.#home = home;
    // Not before what waits to be read was read.
    this.host = new Promise<Host>((resolve) => timers.soon(() => resolve(load()))).then((host) => {
      this.#loaded = host;
      return host;
    });
  }

  accept(link: Link, meta: LinkMeta): LinkEvents {
    const first = new FirstWords(link, this.#home);
    // Whoever asks for the host is told that there is none.
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
    return (await this.host).close();
  }
}

/** What a client says before the host is there: told to it then, but for a hello that was answered. */
class FirstWords implements LinkEvents {
  readonly #link: Link;
  readonly #home: string;
  #waiting: ((events: LinkEvents) => void)[] = [];
  #events: LinkEvents | undefined;
  client: Client | undefined;

  constructor(link: Link, home: string) {
    this.#link = link;
    this.#home = home;
  }

  message(text: string): void {
    if (this.#events === undefined && this.#waiting.length === 0 && this.#isHello(text)) return;
    this.#tell((events) => events.message(text));
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
    for (const tell of this.#waiting.splice(0)) tell(events);
  }

  #tell(tell: (events: LinkEvents) => void): void {
    if (this.#events === undefined) this.#waiting.push(tell);
    else tell(this.#events);
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
