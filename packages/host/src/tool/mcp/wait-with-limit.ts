import type { Timers } from "../../platform/platform.ts";

/** Waits for `work`, or until the signal aborts. The work itself continues. */
export async function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  let abort = (): void => {};
  const aborted = new Promise<void>((resolve) => {
    abort = resolve;
  });
  signal.addEventListener("abort", abort, { once: true });
  await Promise.race([work, aborted]);
  signal.removeEventListener("abort", abort);
}

/** Runs `work` with a signal that aborts after `ms`. `late` returns the error for that case. */
export async function within<T>(
  timers: Timers,
  ms: number,
  late: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const cancel = timers.after(ms, () => over.abort(late()));
  try {
    return await work(over.signal);
  } catch (cause) {
    over.signal.throwIfAborted();
    throw cause;
  } finally {
    cancel();
  }
}
