/**
 * Goes through what comes in batches one by one, and makes of each what it is asked for, or nothing. Nothing waits but
 * for the next batch, and nothing is made of what nobody comes to: a reader that stops early pays for what it read.
 */
export function oneByOne<A, B>(
  batches: AsyncGenerator<readonly A[]>,
  make: (one: A) => B | undefined,
): AsyncIterable<B> {
  return { [Symbol.asyncIterator]: () => new OneByOne(batches, make) };
}

class OneByOne<A, B> implements AsyncIterator<B> {
  readonly #batches: AsyncGenerator<readonly A[]>;
  readonly #make: (one: A) => B | undefined;
  #batch: readonly A[] = [];
  #at = 0;

  constructor(batches: AsyncGenerator<readonly A[]>, make: (one: A) => B | undefined) {
    this.#batches = batches;
    this.#make = make;
  }

  next(): Promise<IteratorResult<B>> {
    try {
      const value = this.#here();
      return value === undefined ? this.#further() : Promise.resolve({ done: false, value });
    } catch (cause) {
      return this.#over(cause);
    }
  }

  async return(): Promise<IteratorResult<B>> {
    await this.#batches.return(undefined);
    return { done: true, value: undefined };
  }

  #here(): B | undefined {
    while (this.#at < this.#batch.length) {
      const made = this.#make(this.#batch[this.#at++]!);
      if (made !== undefined) return made;
    }
    return undefined;
  }

  async #further(): Promise<IteratorResult<B>> {
    for (;;) {
      const { done, value: batch } = await this.#batches.next();
      if (done) return { done: true, value: undefined };
      this.#batch = batch;
      this.#at = 0;
      try {
        const value = this.#here();
        if (value !== undefined) return { done: false, value };
      } catch (cause) {
        return this.#over(cause);
      }
    }
  }

  /** What was opened for it is closed: whoever reads has no way to ask for that after a failure. */
  async #over(cause: unknown): Promise<never> {
    await this.#batches.return(undefined);
    throw cause;
  }
}
