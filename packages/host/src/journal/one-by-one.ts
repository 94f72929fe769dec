/** How many in a row may come to nothing before others get their turn: for some, to find that out is expensive. */
const PATIENCE = 1000;

/**
 * Goes through what comes in batches one by one, and makes of each what it is asked for, or nothing. Nothing waits but
 * for the next batch, and nothing is made of what nobody comes to: a reader that stops early pays for what it read.
 * Where many come to nothing, `pause` lets others go on in between.
 */
export function oneByOne<A, B>(
  batches: AsyncGenerator<readonly A[]>,
  make: (one: A) => B | undefined,
  pause: () => Promise<void>,
): AsyncIterable<B> {
  return { [Symbol.asyncIterator]: () => new OneByOne(batches, make, pause) };
}

class OneByOne<A, B> implements AsyncIterator<B> {
  readonly #batches: AsyncGenerator<readonly A[]>;
  readonly #make: (one: A) => B | undefined;
  readonly #pause: () => Promise<void>;
  #batch: readonly A[] = [];
  #at = 0;
  /** Since the last one of which something was made, or the last pause. */
  #inVain = 0;

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

  /** Undefined at the end of the batch, and when it is time for a pause. */
  #here(): B | undefined {
    while (this.#at < this.#batch.length && this.#inVain < PATIENCE) {
      const made = this.#make(this.#batch[this.#at++]!);
      if (made !== undefined) {
        this.#inVain = 0;
        return made;
      }
      this.#inVain++;
    }
    return undefined;
  }

  async #further(): Promise<IteratorResult<B>> {
    for (;;) {
      if (this.#inVain >= PATIENCE) {
        this.#inVain = 0;
        await this.#pause();
      }
      if (this.#at === this.#batch.length) {
        const { done, value: batch } = await this.#batches.next();
        if (done) return { done: true, value: undefined };
        this.#batch = batch;
        this.#at = 0;
      }
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
