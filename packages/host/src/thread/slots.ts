import type { Actor } from "./actor.ts";

/** A thread is loaded, or on its way in or out; all others are not in the map. */
export type Slot =
  | { readonly kind: "loaded"; readonly actor: Actor }
  /** Loading, closing, or worked on without being loaded: whoever comes waits for the end of it. */
  | { readonly kind: "busy"; readonly done: Promise<void> };

/** Where each thread is that is not just stored. Only what is in no slot can be taken. */
export class Slots {
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

  /** Holds a thread's slot while something is done with it; what is in the slot afterwards is the work's to say. */
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
