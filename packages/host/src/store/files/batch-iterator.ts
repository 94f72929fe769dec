/**
 * Limit on the items skipped in a row before `pause` lets other work run: skipping an item may cost as much as
 * mapping one.
 */
const MAX_SKIPPED = 1000;

/**
 * Iterates over the items of batches. `make` maps an item, or returns undefined to skip it. Items are mapped on
 * demand, so that a reader that stops early does not pay for the rest; only the next batch is awaited. After many
 * skipped items, `pause` lets other work run.
 */
export function iterateBatches<A, B>(
  batches: AsyncGenerator<readonly A[]>,
  make: (one: A) => B | undefined,
  pause: () => Promise<void>,
): AsyncIterable<B> {
  return { [Symbol.asyncIterator]: () => new BatchIterator(batches, make, pause) };
}

class BatchIterator<A, B> implements AsyncIterator<B> {
  readonly #batches: AsyncGenerator<readonly A[]>;
  readonly #make: (one: A) => B | undefined;
  readonly #pause: () => Promise<void>;
  #batch: readonly A[] = [];
  #at = 0;
  /** Items skipped since the last result or pause. */
  #skipped = 0;

  constructor(
    batches: AsyncGenerator<readonly A[]>,
    make: (one: A) => B | undefined,
    pause: () => Promise<void>,
  ) {
    this.#batches = batches;
    this.#make = make;
    this.#pause = pause;
  }

  next(): Promise<IteratorResult<B>> {
    try {
      const value = this.#nextInBatch();
      return value === undefined ? this.#nextAfterWait() : Promise.resolve({ done: false, value });
    } catch (cause) {
      return this.#closeAndThrow(cause);
    }
  }

  async return(): Promise<IteratorResult<B>> {
    await this.#batches.return(undefined);
    return { done: true, value: undefined };
  }

  /** Returns the next result of the current batch; undefined at its end, and when a pause is due. */
  #nextInBatch(): B | undefined {
    while (this.#at < this.#batch.length && this.#skipped < MAX_SKIPPED) {
      const made = this.#make(this.#batch[this.#at++]!);
      if (made !== undefined) {
        this.#skipped = 0;
        return made;
      }
      this.#skipped++;
    }
    return undefined;
  }

  async #nextAfterWait(): Promise<IteratorResult<B>> {
    for (;;) {
      if (this.#skipped >= MAX_SKIPPED) {
        this.#skipped = 0;
        await this.#pause();
      }
      if (this.#at === this.#batch.length) {
        const { done, value: batch } = await this.#batches.next();
        if (done) return { done: true, value: undefined };
        this.#batch = batch;
        this.#at = 0;
      }
      try {
        const value = this.#nextInBatch();
        if (value !== undefined) return { done: false, value };
      } catch (cause) {
        return this.#closeAndThrow(cause);
      }
    }
  }

  /** Closes the batches after a failure: a consumer does not call `return` after `next` has failed. */
  async #closeAndThrow(cause: unknown): Promise<never> {
    await this.#batches.return(undefined);
    throw cause;
  }
}
