// One subscription: its events in order, each kept until the host has it.
import type { JsonObject, ReturnAddress, SubscriptionEvent } from "../wire/index.ts";
import type { Delivering } from "./deliver.ts";
import { Entry } from "./entry.ts";
import { type Log, told } from "./log.ts";
import { type Platform, pause, randomToken } from "./platform.ts";
import { Bucket, type Rate } from "./rate.ts";
import { encoded } from "./result.ts";
import { problemOf } from "./sendable.ts";
import type { Store } from "./store.ts";
import type { EventOptions, Subscription } from "./tool.ts";

/** What outlives the process. It has a callback URL in it: a store must not show it to others. */
export interface SubscriptionRecord {
  readonly tenant: string;
  readonly address: ReturnAddress;
  /** The thread at the top of the one that subscribed; itself if it is alone. */
  readonly root: string;
  readonly tool: string;
  readonly userId: string | null;
  readonly state: JsonObject;
  /** Its host has been told that it has begun. */
  readonly confirmed: boolean;
  /** When it last sent an event, or began. */
  readonly lastUsed: number;
}

/** An event that is kept until it is delivered. */
export interface EventRecord {
  readonly seq: number;
  readonly idempotencyKey: string;
  readonly message: SubscriptionEvent;
}

export interface SubscriptionSnapshot {
  readonly record: SubscriptionRecord;
  readonly events: readonly EventRecord[];
}

export interface SubscriptionGround {
  readonly platform: Platform;
  readonly store: Store;
  readonly delivering: Delivering;
  readonly log: Log;
  readonly rate: Rate;
  readonly ttlMs: number;
}

/** Events that may wait for a host. One that takes none for so long is not served by more. */
const LONGEST_QUEUE = 1000;

type Whose = Pick<SubscriptionRecord, "tenant" | "address">;
const named = ({ tenant, address }: Whose): string =>
  JSON.stringify([tenant, address.group_id, address.id, address.callback_url]);
export const subscriptionKey = (whose: Whose): string => `subscription ${named(whose)}`;
export const eventPrefix = (whose: Whose): string => `event ${named(whose)} `;

interface Queued extends EventRecord {
  readonly stored: Promise<boolean>;
}

export class LiveSubscription implements Subscription {
  readonly #ground: SubscriptionGround;
  readonly #entry: Entry;
  readonly #over = new AbortController();
  readonly #ended: (self: LiveSubscription) => void;
  readonly #bucket: Bucket;
  readonly #queue: Queued[];
  #record: SubscriptionRecord;
  #state: "open" | "final" | "ended" = "open";
  #seq: number;
  #pumping: Promise<void> | undefined;

  constructor(
    ground: SubscriptionGround,
    record: SubscriptionRecord,
    events: readonly EventRecord[],
    ended: (self: LiveSubscription) => void,
  ) {
    this.#ground = ground;
    this.#record = record;
    this.#entry = new Entry(ground.store, subscriptionKey(record));
    this.#ended = ended;
    this.#bucket = new Bucket(ground.rate, ground.platform.now);
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
    if (this.#queue.length >= LONGEST_QUEUE) throw new Error(`${LONGEST_QUEUE} events wait to be delivered`);
    const { group_id, id } = this.#record.address;
    const text = encoded(event);
    const message = {
      type: "subscription_event",
      group_id,
      tool_call_id: id,
      text,
      associative,
      final,
    } as const;
    // Whoever emits can still do something about it.
    const problem = problemOf(message);
    if (problem !== undefined) throw new RangeError(`the event can not be sent: ${problem}`);
    if (final) this.#state = "final";
    const record: EventRecord = {
      seq: ++this.#seq,
      idempotencyKey: randomToken(this.#ground.platform),
      message,
    };
    const writing = this.#ground.store.set(this.#eventKey(record.seq), JSON.stringify(record), {
      sync: true,
    });
    // In line before it is written: events are sent in the order in which they were emitted.
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
      await this.#ground.store.delete(this.#eventKey(record.seq));
      return false;
    }
    this.pump();
    return true;
  }

  async sleepUntil(time: number): Promise<boolean> {
    return (await pause(this.#ground.platform, time - this.#ground.platform.now(), this.signal)) === "passed";
  }

  async end(): Promise<void> {
    if (this.#isEnded()) return;
    this.#state = "ended";
    this.#over.abort("ended");
    this.#ended(this);
    const { store } = this.#ground;
    await this.#entry.remove();
    await Promise.all(this.#queue.map(({ seq }) => store.delete(this.#eventKey(seq))));
  }

  /** What is kept of it, for a server that takes it over. */
  snapshot(): SubscriptionSnapshot {
    const events = this.#queue.map(({ seq, idempotencyKey, message }) => ({ seq, idempotencyKey, message }));
    return { record: this.#record, events };
  }

  /** The process ends, the subscription does not. */
  async stop(): Promise<void> {
    this.#over.abort("shutdown");
    await this.#pumping;
  }

  async confirm(): Promise<void> {
    if (this.#isEnded()) return;
    this.#record = { ...this.#record, confirmed: true };
    await this.save();
  }

  /** Writes it down with everything that waits. */
  async saveAll(): Promise<void> {
    await this.save();
    for (const { seq, idempotencyKey, message } of this.#queue) {
      const text = JSON.stringify({ seq, idempotencyKey, message });
      await this.#ground.store.set(this.#eventKey(seq), text, { sync: true });
    }
  }

  async save(): Promise<void> {
    await this.#entry.write(this.#record, { sync: true });
  }

  /** Sends what waits. Nothing is sent before the host knows of the subscription. */
  pump(): void {
    if (!this.#record.confirmed || this.#pumping !== undefined) return;
    this.#pumping = this.#pump()
      .catch((error: unknown) =>
        this.#ground.log({ level: "error", says: "sending events failed", error: told(error) }),
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
        await this.#ground.store.delete(this.#eventKey(head.seq));
      }
      this.#queue.shift();
      if (head.message.final && (await head.stored)) return await this.end();
    }
  }

  /** False if nothing more is to be sent. */
  async #send({ idempotencyKey, message }: Queued): Promise<boolean> {
    const { delivering, log, platform, ttlMs } = this.#ground;
    const { callback_url } = this.#record.address;
    const delivery = await delivering.deliver(callback_url, message, { idempotencyKey, signal: this.signal });
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
        log({ level: "info", says: "a subscription is over: its host knows nothing of it", ...about });
        await this.end();
        return false;
      case "refused":
        log({ level: "error", says: "an event was refused", status: delivery.status, ...about });
        return true;
      case "gaveUp":
        log({ level: "error", says: "an event was given up", last: delivery.last, ...about });
        return true;
    }
  }

  async #allowed(): Promise<void> {
    for (let wait = this.#bucket.take(); wait > 0; wait = this.#bucket.take())
      if ((await pause(this.#ground.platform, wait, this.signal)) === "aborted") return;
  }

  // The state changes while one waits, which the compiler does not see.
  #isEnded(): boolean {
    return this.#state === "ended";
  }

  #eventKey(seq: number): string {
    return `${eventPrefix(this.#record)}${seq}`;
  }
}
