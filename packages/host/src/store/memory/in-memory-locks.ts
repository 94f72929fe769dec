interface Holder {
  readonly host: string;
  readonly done: Promise<void>;
  release(): void;
}

/** Locks by key for several hosts in one process, for tests. A dead host holds no locks. */
export class InMemoryLocks {
  readonly #holders = new Map<string, Holder>();

  async exclusively<T>(key: string, host: string, work: () => Promise<T>): Promise<T> {
    for (let held = this.#holders.get(key); held !== undefined; held = this.#holders.get(key))
      await held.done;
    let resolve!: () => void;
    const done = new Promise<void>((go) => (resolve = go));
    const holder: Holder = {
      host,
      done,
      release: () => {
        if (this.#holders.get(key) === holder) this.#holders.delete(key);
        resolve();
      },
    };
    this.#holders.set(key, holder);
    try {
      return await work();
    } finally {
      holder.release();
    }
  }

  /** Releases all locks of a host. */
  release(host: string): void {
    for (const holder of [...this.#holders.values()]) if (holder.host === host) holder.release();
  }
}
