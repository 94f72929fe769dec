/** Remembers which journals were made here, until somebody asks whether these are all. */
export class MadeThreads {
  #ids: Set<string> | undefined = new Set();

  add(threadId: string): void {
    this.#ids?.add(threadId);
  }

  async isAll(stored: AsyncIterable<{ readonly id: string }>): Promise<boolean> {
    try {
      for await (const { id } of stored) if (!this.#ids?.has(id)) return false;
      return this.#ids !== undefined;
    } finally {
      this.#ids = undefined;
    }
  }
}
