import type { Clock } from "../../platform/platform.ts";

/** Rate limit per thread: the size of a burst, and the messages per second after it. */
const BURST = 500;
const PER_SECOND = 100;
/** Limit on the remembered threads. Beyond it, the thread that was idle longest is forgotten. */
const MAX_THREADS = 10_000;

/** Limits the rate of callbacks per thread (token bucket). */
export class CallbackRateLimit {
  readonly #clock: Clock;
  /** The remaining tokens of each thread, and when they were computed. */
  readonly #buckets = new Map<string, { readonly tokens: number; readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes one token. Returns false if there is none. */
  take(threadId: string): boolean {
    const now = this.#clock.monotonic();
    const { tokens, at } = this.#buckets.get(threadId) ?? { tokens: BURST, at: now };
    const refilled = Math.min(BURST, tokens + ((now - at) / 1000) * PER_SECOND);
    if (refilled < 1) return false;
    this.#buckets.delete(threadId);
    this.#buckets.set(threadId, { tokens: refilled - 1, at: now });
    const [oldest] = this.#buckets.size > MAX_THREADS ? this.#buckets.keys() : [];
    if (oldest !== undefined) this.#buckets.delete(oldest);
    return true;
  }
}
