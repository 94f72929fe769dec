import type { Discovery, KnownToolset } from "@bobbin/rap/runtime";
import type { Toolset } from "@bobbin/rap/wire";
import type { Tool } from "../tool.ts";

/** What a tool server was found to offer. */
export type Offer =
  | {
      readonly kind: "ready";
      readonly toolset: Toolset;
      readonly tools: readonly Tool[];
      /** It did not answer this time, and this is what it said before. */
      readonly stale: string | null;
    }
  | { readonly kind: "unreachable" | "invalid"; readonly says: string };

type Ready = Extract<Offer, { kind: "ready" }>;

/**
 * One tool server's toolset. It is asked for afresh with every load of a thread; whoever comes while one question is
 * under way shares the next one. The same answer gives the same objects, however many threads have it.
 */
export class Catalog {
  readonly #discover: (known: KnownToolset | undefined) => Promise<Discovery>;
  readonly #tools: (toolset: Toolset) => readonly Tool[];
  #known: (KnownToolset & { readonly offer: Ready }) | undefined;
  #last: Offer | undefined;
  #running: Promise<Offer> | undefined;
  #next: Promise<Offer> | undefined;

  constructor(
    discover: (known: KnownToolset | undefined) => Promise<Discovery>,
    tools: (toolset: Toolset) => readonly Tool[],
  ) {
    this.#discover = discover;
    this.#tools = tools;
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

  async #ask(): Promise<Offer> {
    const found = await this.#discover(this.#known);
    this.#last = this.#offer(found);
    return this.#last;
  }

  #offer(found: Discovery): Offer {
    if (found.kind !== "ready") {
      // A toolset that is not valid any more is not there; one that can not be asked for is as it was.
      if (found.kind === "unreachable" && this.#known !== undefined)
        return { ...this.#known.offer, stale: found.says };
      return found;
    }
    const { text, toolset } = found;
    if (this.#known?.toolset === toolset) return this.#known.offer;
    const offer: Ready = { kind: "ready", toolset, tools: this.#tools(toolset), stale: null };
    this.#known = { text, toolset, offer };
    return offer;
  }
}
