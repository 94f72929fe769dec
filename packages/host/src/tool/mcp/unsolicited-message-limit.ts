import type { Platform } from "../../platform/platform.ts";

/** Limits on the messages: in one burst, and per second. */
const BURST = 2000;
const PER_SECOND = 500;
/** A message counts once, and once more for each full 8 KiB of its size. */
const BYTES_EACH = 8192;

/**
 * Limits the messages of a server that are no replies: notifications, requests, and lines or events that are no
 * messages. If a server sends more, its output is read more slowly, so that a flood costs little and does not affect
 * other servers.
 */
export class UnsolicitedMessageLimit {
  readonly #platform: Pick<Platform, "clock" | "timers">;
  #left = BURST;
  #at: number;

  constructor(platform: Pick<Platform, "clock" | "timers">) {
    this.#platform = platform;
    this.#at = platform.clock.monotonic();
  }

  /** Counts a message of this size. Resolves when reading may continue; undefined if it may continue at once. */
  spend(bytes: number): Promise<void> | undefined {
    return this.#spend(costOf(bytes));
  }

  /**
   * Returns the counter of one HTTP event stream, which is like `spend`. The largest event of a stream is free,
   * because it can be the reply that the stream was opened for.
   */
  ofStream(): (bytes: number) => Promise<void> | undefined {
    let free = 0;
    return (bytes) => {
      const cost = costOf(bytes);
      const counted = Math.min(cost, free);
      free = Math.max(cost, free);
      return counted === 0 ? undefined : this.#spend(counted);
    };
  }

  #spend(cost: number): Promise<void> | undefined {
    const { clock, timers } = this.#platform;
    const now = clock.monotonic();
    this.#left = Math.min(BURST, this.#left + ((now - this.#at) * PER_SECOND) / 1000);
    this.#at = now;
    this.#left -= cost;
    if (this.#left >= 0) return undefined;
    const ms = Math.ceil((-this.#left * 1000) / PER_SECOND);
    return new Promise((resolve) => {
      timers.after(ms, resolve);
    });
  }
}

function costOf(bytes: number): number {
  return 1 + Math.floor(bytes / BYTES_EACH);
}
