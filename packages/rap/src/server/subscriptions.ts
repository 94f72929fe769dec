import type { JsonObject, ReturnAddress } from "../wire/index.ts";
import type { Background } from "./background.ts";
import { told } from "./log.ts";
import {
  type EventRecord,
  eventPrefix,
  LiveSubscription,
  type SubscriptionGround,
  type SubscriptionRecord,
  type SubscriptionSnapshot,
  subscriptionKey,
} from "./subscription.ts";
import { threadKey } from "./thread-scope.ts";
import type { Tool } from "./tool.ts";

export interface SubscriptionsOptions extends SubscriptionGround {
  readonly background: Background;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly sweepMs: number;
}

/** All subscriptions of a server, over its restarts. */
export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #live = new Map<string, LiveSubscription>();
  /** By their threads: hosts tell of every thread that closes, and most have none. */
  readonly #byThread = new Map<string, Set<LiveSubscription>>();
  #stopSweeping: () => void = () => {};

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  async load(): Promise<void> {
    const { store } = this.#options;
    // All at once: each question reads the whole store.
    const kept = new Map<string, { readonly key: string; readonly value: string }[]>();
    for (const [key, value] of await store.list("event ")) {
      const prefix = key.slice(0, key.lastIndexOf(" ") + 1);
      const others = kept.get(prefix);
      if (others === undefined) kept.set(prefix, [{ key, value }]);
      else others.push({ key, value });
    }
    for (const [, value] of await store.list("subscription ")) {
      const record = JSON.parse(value) as SubscriptionRecord;
      const events = (kept.get(eventPrefix(record)) ?? []).map((one) => JSON.parse(one.value) as EventRecord);
      kept.delete(eventPrefix(record));
      this.#add(
        record,
        events.sort((a, b) => a.seq - b.seq),
      );
    }
    // Of subscriptions that have ended just before the process did.
    for (const { key } of [...kept.values()].flat()) await store.delete(key);
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

  /** Kept before it is known to anyone, and not yet confirmed. */
  async begin(
    record: Omit<SubscriptionRecord, "state" | "confirmed" | "lastUsed">,
    state: JsonObject,
  ): Promise<LiveSubscription> {
    const whole = { ...record, state, confirmed: false, lastUsed: this.#options.platform.now() };
    const subscription = this.#add(whole, []);
    await subscription.save();
    return subscription;
  }

  /** From here on its tool listens, and its events are sent. */
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
        this.#options.log({ level: "error", says: "a subscription failed", error: told(error), ...about });
        await subscription.emit(
          "Error: The subscription has failed and is over. Subscribe again if it is needed.",
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

  /** Those of a thread, or of one call of it, are over. An id that nobody knows is no news. */
  async end(tenant: string, thread: string, call?: string): Promise<void> {
    const found = [...(this.#byThread.get(threadKey(tenant, thread)) ?? [])];
    const over = found.filter(({ id }) => call === undefined || id === call);
    await Promise.all(over.map((subscription) => subscription.end()));
  }

  /** Stops those of a session, and tells what another server needs to go on with them. */
  async detach(tenant: string, root: string): Promise<readonly SubscriptionSnapshot[]> {
    const leaving = this.all().filter(({ record }) => record.tenant === tenant && record.root === root);
    await Promise.all(leaving.map((subscription) => subscription.stop()));
    for (const subscription of leaving) this.#remove(subscription);
    return leaving.map((subscription) => subscription.snapshot());
  }

  /** Takes subscriptions over, and goes on with them. */
  async attach(snapshots: readonly SubscriptionSnapshot[]): Promise<void> {
    for (const { record, events } of snapshots) {
      const subscription = this.#add(record, events);
      await subscription.saveAll();
      if (record.confirmed) this.go(subscription);
    }
  }

  /** Another server has them now. */
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
