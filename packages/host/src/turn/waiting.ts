import type { Platform } from "../platform/platform.ts";

/** The stream up to the abort, also if it does not care: whoever waits for us must not have to wait for it. */
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
    // Not awaited: a stream that hangs would never say that it has returned.
    events.return?.().catch(() => {});
  }
}

/** `lastAt`: the time of the record that named `due`, or of a later one. A clock that was set back since is not trusted. */
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
