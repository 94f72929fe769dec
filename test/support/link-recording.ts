import type { Link } from "@bobbin/rpc";
import type { Accept, LinkMeta } from "../../packages/host/src/server/listen/listener.ts";

/** For tests: accepts every link and records its events. */
export class LinkRecording {
  readonly links: RecordedLink[] = [];
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  readonly accept: Accept = (link, meta) => {
    const recorded = new RecordedLink(link, meta);
    this.links.push(recorded);
    for (const wake of this.#waiting.splice(0)) wake();
    return recorded;
  };

  /** The next link, in the order of arrival. */
  async next(): Promise<RecordedLink> {
    const at = this.#taken++;
    for (;;) {
      const link = this.links[at];
      if (link) return link;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

export class RecordedLink {
  readonly link: Link;
  readonly meta: LinkMeta;
  readonly told: string[] = [];
  readonly #waiting: (() => void)[] = [];

  constructor(link: Link, meta: LinkMeta) {
    this.link = link;
    this.meta = meta;
  }

  message(text: string): void {
    this.#tell(text.length > 1000 ? `${text.length} characters` : text);
  }
  oversized(): void {
    this.#tell("oversized");
  }
  undecodable(): void {
    this.#tell("undecodable");
  }
  drained(): void {
    this.#tell("drained");
  }
  closed(): void {
    this.#tell("closed");
  }

  async until(told: string, times = 1): Promise<void> {
    while (this.told.filter((text) => text === told).length < times) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #tell(what: string): void {
    this.told.push(what);
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
