/** A map that keeps the `max` entries that were added last. */
export class RecentMap<V> {
  readonly #max: number;
  readonly #values = new Map<string, V>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  add(key: string, value: V): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > this.#max)
      for (const oldest of this.#values.keys()) return void this.#values.delete(oldest);
  }
}
