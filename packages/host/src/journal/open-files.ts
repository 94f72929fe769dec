/** Something that holds a file open and can let go of it. */
export interface Holder {
  /** False while the file is being used. */
  letGo(): boolean;
}

/** A process may have only so many files open: beyond the limit, the one that was used longest ago is closed. */
export class OpenFiles {
  readonly #limit: number;
  /** Oldest use first. */
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

  /** The end: what a failure has left open is closed, too. */
  close(): void {
    for (const holder of [...this.#holders]) holder.letGo();
  }
}
