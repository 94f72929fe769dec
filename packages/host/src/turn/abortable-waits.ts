import type { Platform } from "../platform/platform.ts";

/** Yields the stream's values until the abort, even if the stream itself ignores the signal. */
export async function* untilAborted<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  const events = stream[Symbol.asyncIterator]();
  let stop = (): void => {};
  const aborted = (): void => stop();
  signal.addEventListener("abort", aborted, { once: true });
  try {
    while (!signal.aborted) {
      const step = await new Promise<IteratorResult<T> | undefined>((resolve, reject) => {
        stop = () => resolve(undefined);
        events.next().then(resolve, reject);
      });
      if (step === undefined || step.done) return;
      yield step.value;
    }
  } finally {
    signal.removeEventListener("abort", aborted);
    // Not awaited, because a stream that hangs never returns.
    events.return?.().catch(() => {});
  }
}

/**
 * Resolves at `due`; rejects at the abort. `lastAt`: the thread's last time, which counts if the clock was set back.
 */
export function waitUntil(
  due: number,
  lastAt: number,
  { clock, timers }: Platform,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = timers.after(Math.max(0, due - Math.max(lastAt, clock.now())), () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    const stop = (): void => {
      cancel();
      reject(signal.reason as Error);
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
