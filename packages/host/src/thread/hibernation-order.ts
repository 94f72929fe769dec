import type { Actor } from "./actor.ts";

/** Limit on the threads that are asked to hibernate per touch. */
const MAX_TRIES = 8;

/**
 * The loaded threads that are in memory, in the order of their last use. Beyond the limit, the least recently used
 * thread hibernates.
 */
export class HibernationOrder {
  readonly #limit: number;
  /** The least recently used first. */
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
    // Busy threads stay in memory beyond the limit, and are moved to the end of the order.
    for (let tries = 0; tries < MAX_TRIES && this.#actors.size > this.#limit; tries++) {
      const [oldest] = this.#actors as Set<Actor>;
      this.#actors.delete(oldest!);
      if (oldest === actor || !oldest!.hibernate()) this.#actors.add(oldest!);
    }
  }

  delete(actor: Actor): void {
    this.#actors.delete(actor);
  }
}
