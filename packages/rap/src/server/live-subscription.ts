// One live subscription. Its events are delivered in order, and each is stored until the host has accepted it.
import type { JsonObject, ReturnAddress, SubscriptionEvent } from "../wire/index.ts";
import type { CallbackSender } from "./callback-sender.ts";
import { errorText, type Log } from "./log.ts";
import { type Platform, pause, randomToken } from "./platform.ts";
import { type Rate, TokenBucket } from "./rate-limit.ts";
import { problemOf } from "./sendable-result.ts";
import type { Store } from "./store.ts";
import { StoreEntry } from "./store-entry.ts";
import type { EventOptions, Subscription } from "./tool.ts";
import { toText } from "./tool-result.ts";

/** The stored state of a subscription. Contains a callback URL, which is a secret: the store must be private. */
export interface SubscriptionRecord {
  readonly tenant: string;
  readonly address: ReturnAddress;
  /** Id of the root thread of the session. Equals the subscribing thread's id if that thread has no parent. */
  readonly root: string;
  readonly tool: string;
  readonly userId: string | null;
  readonly state: JsonObject;
  /** The host has accepted the result that announces the subscription. */
  readonly confirmed: boolean;
  /** Time of the last delivered event, or of the start. Milliseconds since the epoch. */
  readonly lastUsed: number;
}

/** An event that is stored until it is delivered. */
export interface EventRecord {
  readonly seq: number;
  readonly idempotencyKey: string;
  readonly message: SubscriptionEvent;
}

/** A subscription with its undelivered events, for a server that takes it over. */
export interface SubscriptionSnapshot {
  readonly record: SubscriptionRecord;
  readonly events: readonly EventRecord[];
}

export interface SubscriptionDeps {
  readonly platform: Platform;
  readonly store: Store;
  readonly sender: CallbackSender;
  readonly log: Log;
  readonly rate: Rate;
  readonly ttlMs: number;
}

/** Limit on the undelivered events of a subscription. Beyond it, `emit` rejects. */
const MAX_QUEUE = 1000;

type SubscriptionId = Pick<SubscriptionRecord, "tenant" | "address">;
const idText = ({ tenant, address }: SubscriptionId): string =>
  JSON.stringify([tenant, address.group_id, address.id, address.callback_url]);
export const subscriptionKey = (id: SubscriptionId): string => `subscription ${idText(id)}`;
export const eventPrefix = (id: SubscriptionId): string => `event ${idText(id)} `;

interface QueuedEvent extends EventRecord {
  /** Resolves with whether the event could be stored. */
  readonly stored: Promise<boolean>;
}

export class LiveSubscription implements Subscription {
  readonly #deps: SubscriptionDeps;
  readonly #entry: StoreEntry;
  readonly #over = new AbortController();
  readonly #ended: (self: LiveSubscription) => void;
  readonly #bucket: TokenBucket;
  readonly #queue: QueuedEvent[];
  #record: SubscriptionRecord;
  #state: "open" | "final" | "ended" = "open";
  #seq: number;
  #pumping: Promise<void> | undefined;

  constructor(
    deps: SubscriptionDeps,
    record: SubscriptionRecord,
    events: readonly EventRecord[],
    ended: (self: LiveSubscription) => void,
  ) {
    this.#deps = deps;
    this.#record = record;
    this.#entry = new StoreEntry(deps.store, subscriptionKey(record));
    this.#ended = ended;
    this.#bucket = new TokenBucket(deps.rate, deps.platform.now);
    this.#queue = events.map((event) => ({ ...event, stored: Promise.resolve(true) }));
    this.#seq = events.at(-1)?.seq ?? 0;
    if (events.some(({ message }) => message.final)) this.#state = "final";
  }

  get record(): SubscriptionRecord {
    return this.#record;
  }
  get id(): string {
    return this.#record.address.id;
  }
  get tool(): string {
    return this.#record.tool;
  }
  get threadId(): string {
    return this.#record.address.group_id;
  }
  get userId(): string | undefined {
    return this.#record.userId ?? undefined;
  }
  get state(): JsonObject {
    return this.#record.state;
  }
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  async emit(event: unknown, { associative = false, final = false }: EventOptions = {}): Promise<boolean> {
    if (this.#state !== "open" || this.signal.aborted) return false;
    if (this.#queue.length >= MAX_QUEUE) throw new Error(`${MAX_QUEUE} events wait to be delivered`);
    const { group_id, id } = this.#record.address;
    const text = toText(event);
    const message = {
      type: "subscription_event",
      group_id,
      tool_call_id: id,
      text,
      associative,
      final,
    } as const;
    // Checked before the event is queued, so that the tool that calls `emit` gets the error.
    const problem = problemOf(message);
    if (problem !== undefined) throw new RangeError(`the event cannot be sent: ${problem}`);
    if (final) this.#state = "final";
    const record: EventRecord = {
      seq: ++this.#seq,
      idempotencyKey: randomToken(this.#deps.platform),
      message,
    };
    const writing = this.#deps.store.set(this.#eventKey(record.seq), JSON.stringify(record), {
      sync: true,
    });
    // The event is queued before it is stored, so that events are sent in the order of the `emit` calls.
    this.#queue.push({
      ...record,
      stored: writing.then(
        () => true,
        () => false,
      ),
    });
    try {
      await writing;
    } catch (error) {
      if (final && this.#state === "final") this.#state = "open";
      this.pump();
      throw error;
    }
    if (this.#isEnded()) {
      await this.#deps.store.delete(this.#eventKey(record.seq));
      return false;
    }
    this.pump();
    return true;
  }

  async sleepUntil(time: number): Promise<boolean> {
    return (await pause(this.#deps.platform, time - this.#deps.platform.now(), this.signal)) === "passed";
  }

  async end(): Promise<void> {
    if (this.#isEnded()) return;
    this.#state = "ended";
    this.#over.abort("ended");
    this.#ended(this);
    const { store } = this.#deps;
    await this.#entry.remove();
    await Promise.all(this.#queue.map(({ seq }) => store.delete(this.#eventKey(seq))));
  }

  /** The state and the undelivered events, for a server that takes the subscription over. */
  snapshot(): SubscriptionSnapshot {
    const events = this.#queue.map(({ seq, idempotencyKey, message }) => ({ seq, idempotencyKey, message }));
    return { record: this.#record, events };
  }

  /** Stops sending because the process ends. The subscription stays stored. */
  async stop(): Promise<void> {
    this.#over.abort("shutdown");
    await this.#pumping;
  }

  async confirm(): Promise<void> {
    if (this.#isEnded()) return;
    this.#record = { ...this.#record, confirmed: true };
    await this.save();
  }

  /** Stores the subscription and its undelivered events. */
  async saveAll(): Promise<void> {
    await this.save();
    for (const { seq, idempotencyKey, message } of this.#queue) {
      const text = JSON.stringify({ seq, idempotencyKey, message });
      await this.#deps.store.set(this.#eventKey(seq), text, { sync: true });
    }
  }

  async save(): Promise<void> {
    await this.#entry.write(this.#record, { sync: true });
  }

  /** Starts sending queued events, unless the subscription is unconfirmed: the host would not know it. */
  pump(): void {
    if (!this.#record.confirmed || this.#pumping !== undefined) return;
    this.#pumping = this.#pump()
      .catch((error: unknown) =>
        this.#deps.log({ level: "error", says: "sending events failed", error: errorText(error) }),
      )
      .finally(() => {
        this.#pumping = undefined;
        if (this.#queue.length > 0 && !this.signal.aborted) this.pump();
      });
  }

  async #pump(): Promise<void> {
    for (let head = this.#queue[0]; head !== undefined && !this.signal.aborted; head = this.#queue[0]) {
      if (await head.stored) {
        await this.#allowed();
        if (!(await this.#send(head))) return;
        await this.#deps.store.delete(this.#eventKey(head.seq));
      }
      this.#queue.shift();
      if (head.message.final && (await head.stored)) return await this.end();
    }
  }

  /** Resolves with false if no further event may be sent. */
  async #send({ idempotencyKey, message }: QueuedEvent): Promise<boolean> {
    const { sender, log, platform, ttlMs } = this.#deps;
    const { callback_url } = this.#record.address;
    const delivery = await sender.deliver(callback_url, message, { idempotencyKey, signal: this.signal });
    const about = { thread: this.threadId, subscription: this.id };
    switch (delivery.kind) {
      case "delivered": {
        const now = platform.now();
        const stale = now - this.#record.lastUsed > ttlMs / 10;
        this.#record = { ...this.#record, lastUsed: now };
        if (stale) await this.save();
        return true;
      }
      case "aborted":
        return false;
      case "gone":
        log({ level: "info", says: "a subscription ended: its host no longer knows it", ...about });
        await this.end();
        return false;
      case "refused":
        log({
          level: "error",
          says: "an event was refused by its host, and dropped",
          status: delivery.status,
          ...about,
        });
        return true;
      case "gaveUp":
        log({
          level: "error",
          says: "an event could not be delivered, and was dropped",
          last: delivery.last,
          ...about,
        });
        return true;
    }
  }

  /** Waits until the rate limit allows another event. */
  async #allowed(): Promise<void> {
    for (let wait = this.#bucket.take(); wait > 0; wait = this.#bucket.take())
      if ((await pause(this.#deps.platform, wait, this.signal)) === "aborted") return;
  }

  // A method, because the compiler assumes that `#state` does not change during an await.
  #isEnded(): boolean {
    return this.#state === "ended";
  }

  #eventKey(seq: number): string {
    return `${eventPrefix(this.#record)}${seq}`;
  }
}
