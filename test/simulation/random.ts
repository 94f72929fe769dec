/** Seeded pseudo-random numbers (sfc32): small, fast, and the same on every machine. */
export class Random {
  readonly #state: Uint32Array;

  constructor(seed: number) {
    // Neighbouring seeds must not give similar runs: they are spread by splitmix32 first.
    let at = seed >>> 0;
    const spread = () => {
      at = (at + 0x9e3779b9) >>> 0;
      let mixed = at ^ (at >>> 16);
      mixed = Math.imul(mixed, 0x21f0aaad);
      mixed ^= mixed >>> 15;
      mixed = Math.imul(mixed, 0x735a2d97);
      return mixed ^ (mixed >>> 15);
    };
    this.#state = Uint32Array.of(spread(), spread(), spread(), 1);
    for (let round = 0; round < 12; round++) this.uint32();
  }

  uint32(): number {
    const state = this.#state;
    const out = (state[0]! + state[1]! + state[3]!) >>> 0;
    state[3] = state[3]! + 1;
    state[0] = state[1]! ^ (state[1]! >>> 9);
    state[1] = state[2]! + (state[2]! << 3);
    state[2] = ((state[2]! << 21) | (state[2]! >>> 11)) + out;
    return out;
  }

  /** From 0 up to, not including, 1. */
  fraction(): number {
    return this.uint32() / 2 ** 32;
  }

  /** A whole number from 0 up to, not including, `count`. */
  below(count: number): number {
    return Math.floor(this.fraction() * count);
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    if (choices.length === 0) throw new Error("nothing to pick from");
    return choices[this.below(choices.length)]!;
  }

  fill(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at++) bytes[at] = this.uint32();
  }
}
