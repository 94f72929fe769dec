import type { Subscription } from "./subscription.ts";

/** What one connection may not have heard of loads that are over: what else is told of these threads waits behind it. */
export class Unfinished {
  readonly #byThread = new Map<string, Subscription>();
  #allHeard: (() => void) | undefined;

  get(threadId: string): Subscription | undefined {
    return this.#byThread.get(threadId);
  }

  add(subscription: Subscription): void {
    this.#byThread.set(subscription.threadId, subscription);
  }

  /** Another load of the thread is followed now. */
  take(threadId: string): Subscription | undefined {
    const taken = this.get(threadId);
    this.#byThread.delete(threadId);
    return taken;
  }

  /** Lets go of those that have nothing on its way any more. */
  look(): void {
    for (const [threadId, subscription] of this.#byThread) {
      if (subscription.done) this.#byThread.delete(threadId);
    }
    if (!this.#someoneLags()) this.#allHeard?.();
  }

  /** Calls back when everything was made that is left to hear; at once if it was. */
  heard(done: () => void): void {
    this.#allHeard = done;
    this.look();
  }

  /** Nobody is there any more to hear it. */
  stop(): void {
    for (const subscription of this.#byThread.values()) subscription.stop();
    this.#byThread.clear();
    this.#allHeard?.();
  }

  #someoneLags(): boolean {
    return [...this.#byThread.values()].some(({ lagging }) => lagging);
  }
}
