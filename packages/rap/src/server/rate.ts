/** How many a second in the long run, and how many at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** A bucket that fills by time. */
export class Bucket {
  readonly #rate: Rate;
  readonly #now: () => number;
  #tokens: number;
  #filled: number;

  constructor(rate: Rate, now: () => number) {
    this.#rate = rate;
    this.#now = now;
    this.#tokens = rate.burst;
    this.#filled = now();
  }

  /** Milliseconds until there is room for one more; 0 if it was taken now. */
  take(): number {
    const now = this.#now();
    // A clock that was set back gives nothing, and takes nothing.
    const passed = Math.max(0, now - this.#filled);
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + (passed * this.#rate.perSecond) / 1000);
    this.#filled = now;
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) * 1000) / this.#rate.perSecond);
    this.#tokens -= 1;
    return 0;
  }
}
