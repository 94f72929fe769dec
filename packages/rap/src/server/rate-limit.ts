/** A rate limit on calls, notices or events. */
export interface Rate {
  /** The sustained rate. */
  readonly perSecond: number;
  /** How many calls, notices or events may come at once. */
  readonly burst: number;
}

/** A token bucket: holds up to `burst` tokens and gains `perSecond` tokens a second. */
export class TokenBucket {
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

  /** Takes a token and returns 0. Without a token, returns the milliseconds until there is one. */
  take(): number {
    const now = this.#now();
    // A clock that was set back neither adds nor removes tokens.
    const passed = Math.max(0, now - this.#filled);
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + (passed * this.#rate.perSecond) / 1000);
    this.#filled = now;
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) * 1000) / this.#rate.perSecond);
    this.#tokens -= 1;
    return 0;
  }
}
