import type { Actor } from "./actor.ts";

/** The slot of a thread that is loaded, or being created, loaded, closed or edited. Other threads have no slot. */
export type Slot =
  | { readonly kind: "loaded"; readonly actor: Actor }
  /** The thread is being created, loaded or closed, or edited without a load. Other operations wait for `done`. */
  | { readonly kind: "busy"; readonly done: Promise<void> };

/** The slots of all threads. A thread can be opened only if it has no slot. */
export class LoadedAndBusyThreads {
  readonly #byId = new Map<string, Slot>();

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): Slot | undefined {
    return this.#byId.get(id);
  }

  values(): Iterable<Slot> {
    return this.#byId.values();
  }

  enter(actor: Actor): void {
    this.#byId.set(actor.id, { kind: "loaded", actor });
  }

  has(actor: Actor): boolean {
    const slot = this.#byId.get(actor.id);
    return slot?.kind === "loaded" && slot.actor === actor;
  }

  /**
   * Waits until the thread's slot is not busy. Then calls `loaded`, or `free` if the thread has no slot. No other
   * caller gets in between the check and the synchronous part of `free`, such as a call of `occupy`.
   */
  async settled<T>(
    id: string,
    loaded: (actor: Actor) => T | Promise<T>,
    free: () => T | Promise<T>,
  ): Promise<T> {
    for (;;) {
      const slot = this.#byId.get(id);
      if (slot === undefined) return free();
      if (slot.kind === "loaded") return loaded(slot.actor);
      await slot.done;
    }
  }

  /** Keeps a thread's slot busy while `work` runs. Afterwards the slot is free, unless `work` has entered an actor. */
  async occupy<T>(id: string, work: () => Promise<T>): Promise<T> {
    const result = work();
    const done = result.then(
      () => {},
      () => {},
    );
    const slot: Slot = { kind: "busy", done };
    this.#byId.set(id, slot);
    try {
      return await result;
    } finally {
      if (this.#byId.get(id) === slot) this.#byId.delete(id);
    }
  }
}
