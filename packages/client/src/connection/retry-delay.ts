/** How long to wait between attempts. */
export interface RetryDelays {
  /** The delay after the first failure. It doubles with each further one. */
  readonly firstMs: number;
  readonly maxMs: number;
}

export const DEFAULT_DELAYS: RetryDelays = { firstMs: 100, maxMs: 10_000 };

/**
 * The delay after this many consecutive failures: a random value between half and all of the nominal delay, so that
 * clients do not all retry at once.
 */
export function retryDelay(failures: number, { firstMs, maxMs }: RetryDelays): number {
  const nominal = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return nominal * (0.5 + Math.random() / 2);
}

/** Resolves after a time, or when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
