import { createHash } from "node:crypto";
import { Fault } from "../errors.ts";
import type { StartIdempotencyKeys } from "../store/start-idempotency-keys.ts";
import type { Actor } from "./actor.ts";
import type { Registry } from "./registry.ts";

export interface IdempotentStartRequest {
  readonly owner: string;
  /** The client's key for this start. A repeated request has the same key. */
  readonly key: string;
  readonly ephemeral: boolean;
  /** The ID for the thread, used if no thread with this key exists. */
  readonly threadId: string;
  start(threadId: string, startKey: string): Promise<Actor>;
  /** Loads the thread that an earlier request with the key started, if it is not loaded. */
  load(threadId: string): Promise<Actor>;
}

/** Idempotent starts of threads: the same key of the same owner gives the same thread. */
export class IdempotentStarts {
  readonly #registry: Pick<Registry, "loaded">;
  readonly #keys: StartIdempotencyKeys;
  /** The last start per key. Starts with the same key run one after the other. */
  readonly #running = new Map<string, Promise<unknown>>();

  constructor(registry: Pick<Registry, "loaded">, keys: StartIdempotencyKeys) {
    this.#registry = registry;
    this.#keys = keys;
  }

  async run(start: IdempotentStartRequest): Promise<{ readonly actor: Actor; readonly again: boolean }> {
    const startKey = createHash("sha256").update(`${start.owner}\n${start.key}`).digest("hex");
    const before = this.#running.get(startKey) ?? Promise.resolve();
    const run = before.then(() => this.#run(start, startKey));
    const done = run
      .catch(() => {})
      .finally(() => {
        if (this.#running.get(startKey) === done) this.#running.delete(startKey);
      });
    this.#running.set(startKey, done);
    return run;
  }

  /** Releases the key of a deleted thread. Another start with the key creates a new thread. */
  async forget(startKey: string): Promise<void> {
    await this.#keys.release(startKey);
  }

  async #run(
    { ephemeral, threadId, start, load }: IdempotentStartRequest,
    startKey: string,
  ): Promise<{ readonly actor: Actor; readonly again: boolean }> {
    const known =
      this.#loaded(startKey) ?? (ephemeral ? threadId : await this.#keys.reserve(startKey, threadId));
    if (known !== threadId) {
      try {
        return { actor: await load(known), again: true };
      } catch (cause) {
        // The earlier thread was ephemeral and is no longer loaded, or its creation failed.
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
