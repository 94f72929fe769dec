/** Runs work in the order in which it came, a few at once: each may hold a file or a connection open. */
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
      // The place goes to the next one: who comes before that one wakes must not find it free.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

/** Works on all items, a few at once, in the order in which they come. After a failure no more are begun. */
export async function eachFewAtOnce<T>(
  limit: number,
  items: AsyncIterable<T> | Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  // A generator hands each item out once, however many lanes ask, and ends for all of them when one fails.
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
