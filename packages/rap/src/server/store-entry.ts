import type { Store } from "./store.ts";

/** One entry of a store. Serializes its writes, so that an older value never replaces a newer or a removed one. */
export class StoreEntry {
  readonly #store: Store;
  readonly #key: string;
  #last: Promise<unknown> = Promise.resolve();
  #removed = false;

  constructor(store: Store, key: string) {
    this.#store = store;
    this.#key = key;
  }

  write(value: unknown, options?: { readonly sync?: boolean }): Promise<void> {
    return this.#next(async () => {
      if (!this.#removed) await this.#store.set(this.#key, JSON.stringify(value), options);
    });
  }

  remove(): Promise<void> {
    this.#removed = true;
    return this.#next(() => this.#store.delete(this.#key));
  }

  #next(work: () => Promise<void>): Promise<void> {
    const done = this.#last.catch(() => {}).then(work);
    this.#last = done;
    return done;
  }
}
