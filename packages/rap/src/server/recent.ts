/** Keys that were seen not long ago. Bounded: the oldest go first. */
export class Recent {
  readonly #max: number;
  readonly #keys = new Set<string>();

  constructor(max: number) {
    this.#max = max;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  add(key: string): void {
    this.#keys.delete(key);
    this.#keys.add(key);
    if (this.#keys.size > this.#max) for (const oldest of this.#keys) return void this.#keys.delete(oldest);
  }
}
