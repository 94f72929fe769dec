import type { Actor } from "./actor.ts";

/** The loaded child threads of each loaded thread. */
export class LoadedChildren {
  readonly #children = new Map<string, Set<Actor>>();

  enter(actor: Actor): void {
    if (actor.parentId === null) return;
    const siblings = this.#children.get(actor.parentId) ?? new Set();
    this.#children.set(actor.parentId, siblings.add(actor));
  }

  leave(actor: Actor): void {
    if (actor.parentId === null) return;
    const siblings = this.#children.get(actor.parentId);
    siblings?.delete(actor);
    if (siblings?.size === 0) this.#children.delete(actor.parentId);
  }

  childrenOf({ id }: Actor): readonly Actor[] {
    return [...(this.#children.get(id) ?? [])];
  }
}
