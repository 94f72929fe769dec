import type { Discovery, KnownToolset } from "@bobbin/rap/runtime";
import type { Toolset } from "@bobbin/rap/wire";
import type { Tool } from "../tool.ts";

/** What a tool server was found to offer. */
export type Offer =
  | {
      readonly kind: "ready";
      readonly toolset: Toolset;
      readonly tools: readonly Tool[];
      /** Why it did not answer this time, if this is what it said before. */
      readonly stale: NoOffer | null;
    }
  | NoOffer;

interface NoOffer {
  readonly kind: "unreachable" | "refused" | "invalid";
  readonly says: string;
}

type Ready = Extract<Offer, { kind: "ready" }>;

export interface CatalogPorts {
  discover(known: KnownToolset | undefined): Promise<Discovery>;
  tools(toolset: Toolset): readonly Tool[];
  /** What a host before this one was told, if that was kept and is still good. */
  recall(): Promise<KnownToolset | undefined>;
  keep(text: string): Promise<void>;
}

/**
 * One tool server's toolset. It is asked for afresh with every load of a thread; whoever comes while one question is
 * under way shares the next one. The same answer gives the same objects, however many threads have it.
 */
export class Catalog {
  readonly #ports: CatalogPorts;
  #known: (KnownToolset & { readonly offer: Ready }) | undefined;
  #recalled: Promise<Ready | undefined> | undefined;
  #last: Offer | undefined;
  #running: Promise<Offer> | undefined;
  #next: Promise<Offer> | undefined;

  constructor(ports: CatalogPorts) {
    this.#ports = ports;
  }

  /** What came last, if it was ever asked. */
  get last(): Offer | undefined {
    return this.#last;
  }

  ask(): Promise<Offer> {
    if (this.#running === undefined) {
      this.#running = this.#ask().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.ask();
    });
    return this.#next;
  }

  /**
   * For a thread that goes on with a load of an earlier host: what the server said to that is good enough where it cannot
   * be asked. Nobody else gets it: a new load has to have what the server says now.
   */
  async askAgain(): Promise<Offer> {
    const offer = await this.ask();
    if (offer.kind === "ready" || offer.kind === "invalid") return offer;
    this.#recalled ??= this.#recall();
    const before = await this.#recalled;
    return before === undefined ? offer : { ...before, stale: offer };
  }

  async #recall(): Promise<Ready | undefined> {
    const known = await this.#ports.recall();
    return known && this.#fresh(known.toolset);
  }

  async #ask(): Promise<Offer> {
    this.#last = await this.#offer(await this.#ports.discover(this.#known));
    return this.#last;
  }

  async #offer(found: Discovery): Promise<Offer> {
    if (found.kind === "invalid") return found;
    if (found.kind === "ready") {
      // Before the first call: what is sent then may have to be sent again by the next host.
      if (this.#known?.text !== found.text) await this.#ports.keep(found.text);
      return this.#ready(found);
    }
    // A toolset that is not valid any more is not there; one that cannot be asked for is as it was.
    return this.#known === undefined ? found : { ...this.#known.offer, stale: found };
  }

  #ready({ text, toolset }: KnownToolset): Ready {
    if (this.#known?.text !== text) this.#known = { text, toolset, offer: this.#fresh(toolset) };
    return this.#known.offer;
  }

  #fresh(toolset: Toolset): Ready {
    return { kind: "ready", toolset, tools: this.#ports.tools(toolset), stale: null };
  }
}
