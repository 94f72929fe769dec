import type { Clock } from "../../platform/platform.ts";

/** What one thread is sent at once, and each second from then on. */
const BURST = 500;
const PER_SECOND = 100;
/** Beyond so many threads, those that were quiet are forgotten. */
const MAX_THREADS = 10_000;

/** Limits how many messages each thread is sent. */
export class ThreadRates {
  readonly #clock: Clock;
  /** How much each thread may still be sent, and when that was true. */
  readonly #rates = new Map<string, { readonly left: number; readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts one message; false if it is one too many for now. */
  take(threadId: string): boolean {
    const now = this.#clock.monotonic();
    const { left, at } = this.#rates.get(threadId) ?? { left: BURST, at: now };
    const grown = Math.min(BURST, left + ((now - at) / 1000) * PER_SECOND);
    if (grown < 1) return false;
    this.#rates.delete(threadId);
    this.#rates.set(threadId, { left: grown - 1, at: now });
    const [oldest] = this.#rates.size > MAX_THREADS ? this.#rates.keys() : [];
    if (oldest !== undefined) this.#rates.delete(oldest);
    return true;
  }
}
