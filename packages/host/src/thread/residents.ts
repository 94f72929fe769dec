import type { Actor } from "./actor.ts";

/** How many are looked at each time. */
const LOOKS = 8;

/** Which loaded threads are in memory: beyond the limit, the one that was touched longest ago hibernates. */
export class Residents {
  readonly #limit: number;
  /** Oldest touch first. */
  readonly #actors = new Set<Actor>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#actors.size;
  }

  touch(actor: Actor): void {
    this.#actors.delete(actor);
    this.#actors.add(actor);
    // Those that are at work stay, whatever the limit. They go to the back: all of them may be at work.
    for (let looks = 0; looks < LOOKS && this.#actors.size > this.#limit; looks++) {
      const [oldest] = this.#actors as Set<Actor>;
      this.#actors.delete(oldest!);
      if (oldest === actor || !oldest!.hibernate()) this.#actors.add(oldest!);
    }
  }

  delete(actor: Actor): void {
    this.#actors.delete(actor);
  }
}
