/**
 * Runs tasks in the order in which they were added, at most `limit` at a time, because each may hold a file or a
 * connection open.
 */
export class FewAtOnce {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limit) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The slot goes directly to the next waiting task. A task that is added before the next one wakes must not
      // take the slot.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

/**
 * Runs `work` for every item, at most `limit` at once, in the order of the items. After a failure no further item is
 * started.
 */
export async function eachFewAtOnce<T>(
  limit: number,
  items: AsyncIterable<T> | Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  // All lanes read from one generator, which yields each item once, and ends for all lanes when one lane fails.
  const source = oneByOne(items);
  const lane = async (): Promise<void> => {
    for await (const item of source) await work(item);
  };
  const lanes = await Promise.allSettled(Array.from({ length: limit }, lane));
  const failed = lanes.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

async function* oneByOne<T>(items: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T> {
  yield* items;
}
