import type { WaitingRows } from "./waiting-rows.ts";

interface Waiter {
  /** The newest row that this caller waits for. */
  readonly ticket: number;
  resolve(): void;
  reject(cause: unknown): void;
}

/**
 * Writes waiting rows, a batch at a time. Callers share one loop: a thousand threads that end at once cost as many
 * batches as their rows fill, and not a thousand loops. A caller waits for the rows that were there when it asked,
 * not for those that come meanwhile: on a busy host these never end.
 */
export class WriteBehind {
  readonly #rows: WaitingRows;
  readonly #writeBatch: () => Promise<void>;
  readonly #pause: () => Promise<void>;
  /** In the order of their tickets. */
  #waiters: Waiter[] = [];
  #running = false;

  /** `writeBatch` takes at least one row off `rows`, or throws. `pause` lets others run between batches. */
  constructor(rows: WaitingRows, writeBatch: () => Promise<void>, pause: () => Promise<void>) {
    this.#rows = rows;
    this.#writeBatch = writeBatch;
    this.#pause = pause;
  }

  /** Resolves when every row that waits now is written. Rejects if a batch cannot be written. */
  written(): Promise<void> {
    if (this.#rows.size === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ ticket: this.#rows.lastTicket, resolve, reject });
      // Tells the waiters of its failure.
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    try {
      while (this.#waiters.length > 0) {
        await this.#writeBatch();
        this.#release();
        if (this.#waiters.length > 0) await this.#pause();
      }
    } catch (cause) {
      for (const { reject } of this.#waiters.splice(0)) reject(cause);
    } finally {
      this.#running = false;
    }
  }

  #release(): void {
    const next = this.#rows.firstTicket;
    const count = this.#waiters.findIndex(({ ticket }) => ticket >= next);
    const done = this.#waiters.splice(0, count < 0 ? this.#waiters.length : count);
    for (const { resolve } of done) resolve();
  }
}
