import { createHash } from "node:crypto";
import { Fault } from "../errors.ts";
import type { Journal } from "../journal/journal.ts";
import type { Actor } from "./actor.ts";
import type { Registry } from "./registry.ts";

export interface KeyedStart {
  readonly owner: string;
  /** The client's own, for as long as it may have to ask again. */
  readonly key: string;
  readonly ephemeral: boolean;
  /** An id for the thread, if there is none yet. */
  readonly threadId: string;
  start(threadId: string, startKey: string): Promise<Actor>;
  /** The thread that was started before, loaded again if need be. */
  load(threadId: string): Promise<Actor>;
}

/** Starts that may be asked for twice: the same key of the same owner gives the same thread. */
export class KeyedStarts {
  readonly #registry: Pick<Registry, "loaded">;
  readonly #journal: Pick<Journal, "reserve" | "release">;
  /** One at a time for each key: the second one finds what the first one made. */
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(registry: Pick<Registry, "loaded">, journal: Pick<Journal, "reserve" | "release">) {
    this.#registry = registry;
    this.#journal = journal;
  }

  async run(start: KeyedStart): Promise<{ readonly actor: Actor; readonly again: boolean }> {
    const startKey = createHash("sha256").update(`${start.owner}\n${start.key}`).digest("hex");
    const before = this.#underWay.get(startKey) ?? Promise.resolve();
    const run = before.then(() => this.#run(start, startKey));
    const done = run
      .catch(() => {})
      .finally(() => {
        if (this.#underWay.get(startKey) === done) this.#underWay.delete(startKey);
      });
    this.#underWay.set(startKey, done);
    return run;
  }

  /** Its thread is deleted: who comes with the key again gets a new one. */
  async forget(startKey: string): Promise<void> {
    await this.#journal.release(startKey);
  }

  async #run(
    { ephemeral, threadId, start, load }: KeyedStart,
    startKey: string,
  ): Promise<{ readonly actor: Actor; readonly again: boolean }> {
    const known =
      this.#loaded(startKey) ?? (ephemeral ? threadId : await this.#journal.reserve(startKey, threadId));
    if (known !== threadId) {
      try {
        return { actor: await load(known), again: true };
      } catch (cause) {
        // It was an ephemeral one and is gone, or never came to be.
        if (!(cause instanceof Fault) || cause.code !== "noRollout") throw cause;
      }
    }
    return { actor: await start(known, startKey), again: false };
  }

  #loaded(startKey: string): string | undefined {
    for (const actor of this.#registry.loaded()) if (actor.startKey === startKey) return actor.id;
    return undefined;
  }
}
