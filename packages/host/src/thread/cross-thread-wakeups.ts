/**
 * The delay before an effect looks again at a thread that this host does not have loaded. Another host may have it, and
 * wakeups do not reach other hosts.
 */
export const LOOK_AGAIN_MS = 2000;

/**
 * Wakes effects of one thread that wait for a change in another thread. A wakeup carries no data: the woken effect
 * reads the other thread. Wakeups need not survive a crash, because the state names the effect again.
 */
export class CrossThreadWakeups {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Wakes the effects that wait for this thread. */
  wake(threadId: string): void {
    for (const wake of [...(this.#waiting.get(threadId) ?? [])]) wake();
  }

  /** Resolves at the next wakeup for the thread, or when the signal aborts. */
  wait(threadId: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(threadId) ?? new Set();
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        waiting.delete(wake);
        if (waiting.size === 0 && this.#waiting.get(threadId) === waiting) this.#waiting.delete(threadId);
        resolve();
      };
      this.#waiting.set(threadId, waiting.add(wake));
      if (signal.aborted) wake();
      else signal.addEventListener("abort", wake, { once: true });
    });
  }
}
