import type { Actor } from "./actor.ts";

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
    if (this.#actors.size <= this.#limit) return;
    // Those that are at work stay, whatever the limit: one that can not sleep now is passed over.
    for (const oldest of this.#actors) {
      if (oldest === actor || !oldest.hibernate()) continue;
      this.#actors.delete(oldest);
      if (this.#actors.size <= this.#limit) return;
    }
  }

  delete(actor: Actor): void {
    this.#actors.delete(actor);
  }
}
