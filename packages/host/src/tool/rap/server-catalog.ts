import type { Discovery, KnownToolset } from "@bobbin/rap/runtime";
import type { Toolset } from "@bobbin/rap/wire";
import type { Tool } from "../tool.ts";

/** The result of asking a tool server for its toolset. */
export type Offer =
  | {
      readonly kind: "ready";
      readonly toolset: Toolset;
      readonly tools: readonly Tool[];
      /**
       * If the toolset is from an earlier answer: why the server did not answer this time. Null if the toolset is
       * current.
       */
      readonly stale: NoOffer | null;
    }
  | NoOffer;

interface NoOffer {
  readonly kind: "unreachable" | "refused" | "invalid";
  readonly says: string;
}

type Ready = Extract<Offer, { kind: "ready" }>;

/** The parts of the host that a catalog needs. */
export interface CatalogPorts {
  discover(known: KnownToolset | undefined): Promise<Discovery>;
  tools(toolset: Toolset): readonly Tool[];
  /** The toolset that an earlier host stored, if it is still valid. */
  readStored(): Promise<KnownToolset | undefined>;
  store(text: string): Promise<void>;
}

/**
 * The toolset of one tool server, shared by all threads that use the server. The server is asked again at each load
 * of a thread. Loads that begin during a request share the next request. Equal answers give the same objects, so that
 * threads share memory.
 */
export class Catalog {
  readonly #ports: CatalogPorts;
  #known: (KnownToolset & { readonly offer: Ready }) | undefined;
  #storedOffer: Promise<Ready | undefined> | undefined;
  #last: Offer | undefined;
  #running: Promise<Offer> | undefined;
  #next: Promise<Offer> | undefined;

  constructor(ports: CatalogPorts) {
    this.#ports = ports;
  }

  /** The last answer; undefined if the server was never asked. */
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
   * Asks the server for an adopted thread, which continues a load of an earlier host. If the server cannot be reached,
   * the toolset that the earlier host stored is used. New loads never use a stored toolset.
   */
  async askAgain(): Promise<Offer> {
    const offer = await this.ask();
    if (offer.kind === "ready" || offer.kind === "invalid") return offer;
    this.#storedOffer ??= this.#readStored();
    const before = await this.#storedOffer;
    return before === undefined ? offer : { ...before, stale: offer };
  }

  async #readStored(): Promise<Ready | undefined> {
    const known = await this.#ports.readStored();
    return known && this.#newOffer(known.toolset);
  }

  async #ask(): Promise<Offer> {
    this.#last = await this.#offer(await this.#ports.discover(this.#known));
    return this.#last;
  }

  async #offer(found: Discovery): Promise<Offer> {
    if (found.kind === "invalid") return found;
    if (found.kind === "ready") {
      // Stored before the first call, because after a crash the next host may have to repeat that call.
      if (this.#known?.text !== found.text) await this.#ports.store(found.text);
      return this.#ready(found);
    }
    // If the server is unreachable, its previous toolset stays in use. After an invalid answer it does not.
    return this.#known === undefined ? found : { ...this.#known.offer, stale: found };
  }

  #ready({ text, toolset }: KnownToolset): Ready {
    if (this.#known?.text !== text) this.#known = { text, toolset, offer: this.#newOffer(toolset) };
    return this.#known.offer;
  }

  #newOffer(toolset: Toolset): Ready {
    return { kind: "ready", toolset, tools: this.#ports.tools(toolset), stale: null };
  }
}
