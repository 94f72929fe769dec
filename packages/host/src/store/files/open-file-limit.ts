/** An object that holds a file open and can close it. */
export interface Holder {
  /** Closes the file. Returns false while the file is in use. */
  letGo(): boolean;
}

/** Limits the number of open files. Beyond the limit, the least recently used file is closed. */
export class OpenFileLimit {
  readonly #limit: number;
  /** Least recently used first. */
  readonly #holders = new Set<Holder>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  used(holder: Holder): void {
    this.#holders.delete(holder);
    this.#holders.add(holder);
    if (this.#holders.size <= this.#limit) return;
    for (const oldest of this.#holders) {
      if (oldest === holder || !oldest.letGo()) continue;
      this.#holders.delete(oldest);
      return;
    }
  }

  closed(holder: Holder): void {
    this.#holders.delete(holder);
  }

  /** Closes all files, including those that a failure left open. */
  close(): void {
    for (const holder of [...this.#holders]) holder.letGo();
  }
}
