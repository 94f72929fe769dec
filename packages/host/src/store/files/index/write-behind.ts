import type { PendingRows } from "./pending-rows.ts";

interface Waiter {
  /** Ticket of the newest row that this caller waits for. */
  readonly ticket: number;
  resolve(): void;
  reject(cause: unknown): void;
}

/**
 * Writes pending rows in batches. All callers share one loop, so that a thousand threads that end together cause only
 * as many batches as their rows fill. A caller waits only for the rows that were pending at its call.
 */
export class WriteBehind {
  readonly #rows: PendingRows;
  readonly #writeBatch: () => Promise<void>;
  readonly #pause: () => Promise<void>;
  /** In the order of their tickets. */
  #waiters: Waiter[] = [];
  #running = false;

  /** `writeBatch` removes at least one row from `rows`, or throws. `pause` yields to the event loop between batches. */
  constructor(rows: PendingRows, writeBatch: () => Promise<void>, pause: () => Promise<void>) {
    this.#rows = rows;
    this.#writeBatch = writeBatch;
    this.#pause = pause;
  }

  /** Resolves when every row that is pending now is written. Rejects if a batch cannot be written. */
  written(): Promise<void> {
    if (this.#rows.size === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ ticket: this.#rows.lastTicket, resolve, reject });
      // `#run` passes its failure to the waiters.
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
