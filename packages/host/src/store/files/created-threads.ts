/** Remembers the threads whose journals this host created, until the first call of `isAll`. */
export class CreatedThreads {
  #ids: Set<string> | undefined = new Set();

  add(threadId: string): void {
    this.#ids?.add(threadId);
  }

  /** Whether this host created all stored threads. Only the first call may return true. */
  async isAll(stored: AsyncIterable<{ readonly id: string }>): Promise<boolean> {
    try {
      for await (const { id } of stored) if (!this.#ids?.has(id)) return false;
      return this.#ids !== undefined;
    } finally {
      this.#ids = undefined;
    }
  }
}
