/** A queue of values for one reader, in order. Values are buffered until they are read. */
export class EventQueue<T> implements AsyncIterableIterator<T> {
  readonly #values: T[] = [];
  readonly #left: () => void;
  #end: { readonly error: unknown } | undefined;
  #wake = () => {};

  /** `left`: called once when the reader leaves, or when the end is reached. */
  constructor(left: () => void = () => {}) {
    this.#left = left;
  }

  push(value: T): void {
    if (this.#end !== undefined) return;
    this.#values.push(value);
    this.#wake();
  }

  /** Ends the queue: no more values follow the buffered ones. With an error, the reader gets the error after them. */
  end(error?: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    this.#wake();
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    for (;;) {
      if (this.#values.length > 0) return { done: false, value: this.#values.shift()! };
      if (this.#end !== undefined) {
        const { error } = this.#end;
        this.#end = { error: undefined };
        this.#left();
        if (error !== undefined) throw error;
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#values.length = 0;
    this.end();
    this.#left();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
