import type { Subscription } from "./subscription.ts";

/**
 * A connection's subscriptions to loads that are over but whose notifications may be undelivered. Later notifications
 * about the same thread wait for these.
 */
export class UndeliveredSubscriptions {
  readonly #byThread = new Map<string, Subscription>();
  #onDelivered: (() => void) | undefined;

  get(threadId: string): Subscription | undefined {
    return this.#byThread.get(threadId);
  }

  add(subscription: Subscription): void {
    this.#byThread.set(subscription.threadId, subscription);
  }

  /** Removes and returns the subscription, because the connection now follows another load of the thread. */
  take(threadId: string): Subscription | undefined {
    const taken = this.get(threadId);
    this.#byThread.delete(threadId);
    return taken;
  }

  /** Removes subscriptions that have delivered everything. */
  prune(): void {
    for (const [threadId, subscription] of this.#byThread) {
      if (subscription.done) this.#byThread.delete(threadId);
    }
    if (!this.#anyLagging()) this.#onDelivered?.();
  }

  /** Calls `done` when no subscription lags any more, at once if none does. */
  whenDelivered(done: () => void): void {
    this.#onDelivered = done;
    this.prune();
  }

  /** Drops everything undelivered, because the connection is closed. */
  stop(): void {
    for (const subscription of this.#byThread.values()) subscription.stop();
    this.#byThread.clear();
    this.#onDelivered?.();
  }

  #anyLagging(): boolean {
    return [...this.#byThread.values()].some(({ lagging }) => lagging);
  }
}
