import type { JsonObject, ReturnAddress } from "../wire/index.ts";
import type { BackgroundWork } from "./background-work.ts";
import {
  type EventRecord,
  eventPrefix,
  LiveSubscription,
  type SubscriptionDeps,
  type SubscriptionRecord,
  type SubscriptionSnapshot,
  subscriptionKey,
} from "./live-subscription.ts";
import { errorText } from "./log.ts";
import { threadKey } from "./thread-scope.ts";
import type { Tool } from "./tool.ts";

export interface SubscriptionRegistryOptions extends SubscriptionDeps {
  readonly background: BackgroundWork;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly sweepMs: number;
}

/** All live subscriptions of a tool server. They survive its restarts. */
export class SubscriptionRegistry {
  readonly #options: SubscriptionRegistryOptions;
  readonly #live = new Map<string, LiveSubscription>();
  /** Index by thread. Hosts send a notice for every closed thread, and most of those have no subscriptions here. */
  readonly #byThread = new Map<string, Set<LiveSubscription>>();
  #stopSweeping: () => void = () => {};

  constructor(options: SubscriptionRegistryOptions) {
    this.#options = options;
  }

  async load(): Promise<void> {
    const { store } = this.#options;
    // The events of all subscriptions are read by one query, because each query reads the whole store.
    const stored = new Map<string, { readonly key: string; readonly value: string }[]>();
    for (const [key, value] of await store.list("event ")) {
      const prefix = key.slice(0, key.lastIndexOf(" ") + 1);
      const others = stored.get(prefix);
      if (others === undefined) stored.set(prefix, [{ key, value }]);
      else others.push({ key, value });
    }
    for (const [, value] of await store.list("subscription ")) {
      const record = JSON.parse(value) as SubscriptionRecord;
      const events = (stored.get(eventPrefix(record)) ?? []).map(
        (one) => JSON.parse(one.value) as EventRecord,
      );
      stored.delete(eventPrefix(record));
      this.#add(
        record,
        events.sort((a, b) => a.seq - b.seq),
      );
    }
    // Deletes the remaining events. Their subscriptions ended just before the last process did.
    for (const { key } of [...stored.values()].flat()) await store.delete(key);
    this.#sweepLater();
  }

  #add(record: SubscriptionRecord, events: readonly EventRecord[]): LiveSubscription {
    const key = subscriptionKey(record);
    const thread = threadKey(record.tenant, record.address.group_id);
    const subscription = new LiveSubscription(this.#options, record, events, (ended) => this.#remove(ended));
    this.#live.set(key, subscription);
    const others = this.#byThread.get(thread) ?? new Set();
    this.#byThread.set(thread, others.add(subscription));
    return subscription;
  }

  #remove(subscription: LiveSubscription): void {
    const { record } = subscription;
    const key = subscriptionKey(record);
    if (this.#live.get(key) === subscription) this.#live.delete(key);
    const thread = threadKey(record.tenant, record.address.group_id);
    const others = this.#byThread.get(thread);
    others?.delete(subscription);
    if (others?.size === 0) this.#byThread.delete(thread);
  }

  /** Stores a new subscription. It is unconfirmed until the host has accepted the result that announces it. */
  async begin(
    record: Omit<SubscriptionRecord, "state" | "confirmed" | "lastUsed">,
    state: JsonObject,
  ): Promise<LiveSubscription> {
    const whole = { ...record, state, confirmed: false, lastUsed: this.#options.platform.now() };
    const subscription = this.#add(whole, []);
    await subscription.save();
    return subscription;
  }

  /** Starts a confirmed subscription: sends its events, and calls the `listen` of its tool. */
  go(subscription: LiveSubscription): void {
    subscription.pump();
    const listen = this.#options.tools.get(subscription.tool)?.listen;
    if (listen === undefined) return;
    void this.#options.background.run("a subscription", async () => {
      try {
        await listen(subscription);
      } catch (error) {
        if (subscription.signal.aborted) return;
        const about = { thread: subscription.threadId, subscription: subscription.id };
        this.#options.log({
          level: "error",
          says: "a subscription failed",
          error: errorText(error),
          ...about,
        });
        await subscription.emit(
          "Error: The subscription failed and has ended. Subscribe again if it is still needed.",
          {
            final: true,
          },
        );
      }
    });
  }

  find(tenant: string, address: ReturnAddress): LiveSubscription | undefined {
    return this.#live.get(subscriptionKey({ tenant, address }));
  }

  all(): readonly LiveSubscription[] {
    return [...this.#live.values()];
  }

  /** Ends the subscriptions of a thread, or the one that `call` started. Does nothing for unknown ids. */
  async end(tenant: string, thread: string, call?: string): Promise<void> {
    const found = [...(this.#byThread.get(threadKey(tenant, thread)) ?? [])];
    const over = found.filter(({ id }) => call === undefined || id === call);
    await Promise.all(over.map((subscription) => subscription.end()));
  }

  /** Stops the subscriptions of a session and returns their snapshots, for the server that takes them over. */
  async detach(tenant: string, root: string): Promise<readonly SubscriptionSnapshot[]> {
    const leaving = this.all().filter(({ record }) => record.tenant === tenant && record.root === root);
    await Promise.all(leaving.map((subscription) => subscription.stop()));
    for (const subscription of leaving) this.#remove(subscription);
    return leaving.map((subscription) => subscription.snapshot());
  }

  /** Stores and starts subscriptions from snapshots. */
  async attach(snapshots: readonly SubscriptionSnapshot[]): Promise<void> {
    for (const { record, events } of snapshots) {
      const subscription = this.#add(record, events);
      await subscription.saveAll();
      if (record.confirmed) this.go(subscription);
    }
  }

  /** Deletes subscriptions from the store that another server has taken over. */
  async forget(snapshots: readonly SubscriptionSnapshot[]): Promise<void> {
    for (const { record, events } of snapshots) {
      await this.#options.store.delete(subscriptionKey(record));
      for (const { seq } of events) await this.#options.store.delete(`${eventPrefix(record)}${seq}`);
    }
  }

  #sweepLater(): void {
    const { platform, background, sweepMs, ttlMs } = this.#options;
    this.#stopSweeping = platform.after(sweepMs, () => {
      void background.run("sweeping subscriptions", async () => {
        for (const subscription of this.all())
          if (platform.now() - subscription.record.lastUsed >= ttlMs)
            await subscription.emit("The subscription has expired. Subscribe again if it is still needed.", {
              final: true,
            });
      });
      this.#sweepLater();
    });
  }

  async stop(): Promise<void> {
    this.#stopSweeping();
    await Promise.all(this.all().map((subscription) => subscription.stop()));
  }
}
