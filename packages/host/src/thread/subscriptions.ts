import type { NotificationName } from "@bobbin/protocol";
import { Frame } from "@bobbin/rpc";
import { type Notification, notify } from "../core/notify.ts";
import type { PendingRequest } from "../core/requests/records.ts";
import type { JournalReader } from "../journal/journal.ts";
import type { Clock } from "../platform/platform.ts";
import { notificationFrame } from "./notification-frame.ts";
import { type Cursor, cursorText, type Position, type Recipient, Subscription } from "./subscription.ts";

export interface SubscriptionsPorts {
  readonly threadId: string;
  readonly clock: Clock;
  readonly journal: JournalReader;
  /** The last commit that was told. */
  head(): number;
  /** Questions that wait for an answer. */
  pending(): readonly PendingRequest[];
  /** The thread is not loaded any more. */
  gone(): boolean;
  /** Gives a subscriber that has caught up the running items' missing text. */
  bringUp(subscription: Subscription): void;
  supervise(what: string, work: Promise<unknown>): void;
}

/** Who follows a thread, and what they are sent: the fan-out of one thread. */
export class Subscriptions {
  readonly #ports: SubscriptionsPorts;
  readonly #byRecipient = new Map<Recipient, Subscription>();

  constructor(ports: SubscriptionsPorts) {
    this.#ports = ports;
  }

  get size(): number {
    return this.#byRecipient.size;
  }

  has(recipient: Recipient): boolean {
    return this.#byRecipient.has(recipient);
  }

  [Symbol.iterator](): Iterator<Subscription> {
    return this.#byRecipient.values();
  }

  /** From the next notification on, or from the one after a cursor. */
  add(recipient: Recipient, after?: Cursor): void {
    const next = { seq: this.#ports.head() + 1, index: 0 };
    if (after === undefined) {
      const known = this.#byRecipient.get(recipient);
      if (known !== undefined) {
        known.askAgain();
        return this.#askPending(known);
      }
      const subscription = this.#subscription(recipient, next);
      this.#byRecipient.set(recipient, subscription);
      return this.#bringUp(subscription);
    }
    const missed = this.#subscription(recipient, { seq: after.seq, index: after.index + 1 });
    this.#byRecipient.set(recipient, missed);
    missed.lag();
    missed.catchUp();
  }

  remove(recipient: Recipient): boolean {
    return this.#byRecipient.delete(recipient);
  }

  /** Sends a durable notification to all who are not behind; gives the frame for those who do not follow. */
  durable(position: Cursor, { method, params }: Notification): Frame {
    const at = this.#ports.clock.now();
    const plain = notificationFrame(method, params, at);
    let withCursor: Frame | undefined;
    for (const subscription of this.#byRecipient.values()) {
      if (subscription.lagging) continue;
      if (subscription.recipient.wantsCursors) {
        withCursor ??= notificationFrame(method, { ...params, cursor: cursorText(position) }, at);
      }
      subscription.durable(position, method, subscription.recipient.wantsCursors ? withCursor! : plain);
    }
    return plain;
  }

  /** Asks all who are not behind; those who are will be asked when they are not, if it still matters. */
  ask(request: PendingRequest): void {
    const frame = requestFrame(request);
    for (const subscription of this.#byRecipient.values()) {
      if (!subscription.lagging) subscription.ask(request.id, frame);
    }
  }

  resolved(requestId: number): void {
    for (const subscription of this.#byRecipient.values()) subscription.resolved(requestId);
  }

  /** One client can not answer. True if now nobody is left who might. */
  refused(recipient: Recipient, requestId: number): boolean {
    this.#byRecipient.get(recipient)?.refuse(requestId);
    return this.allRefused(requestId);
  }

  allRefused(requestId: number): boolean {
    return this.size > 0 && [...this.#byRecipient.values()].every((one) => one.hasRefused(requestId));
  }

  /** Sends something that is in no record. */
  tell(method: NotificationName, frame: Frame): void {
    for (const subscription of this.#byRecipient.values()) subscription.live(method, frame);
  }

  #subscription(recipient: Recipient, next: Position): Subscription {
    return new Subscription(recipient, next, (one) => {
      const done = this.#catchUp(one).catch((cause) => {
        // A thread that was deleted meanwhile has nothing left to make good from.
        if (!this.#ports.gone()) throw cause;
      });
      this.#ports.supervise("catching up", done);
    });
  }

  /** Makes again, from the journal, what a subscriber missed. */
  async #catchUp(subscription: Subscription): Promise<void> {
    const { recipient } = subscription;
    const { journal, clock, threadId } = this.#ports;
    while (this.#byRecipient.get(recipient) === subscription) {
      const head = this.#ports.head();
      for await (const { commit } of journal.forwards(await journal.locate(subscription.next.seq - 1))) {
        if (commit.seq > head) break;
        let index = 0;
        for (const record of commit.records) {
          for (const { method, params } of notify(threadId, record)) {
            if (this.#byRecipient.get(recipient) !== subscription) return;
            if (recipient.congested) return recipient.waitForRoom(subscription);
            const position = { epoch: commit.epoch, seq: commit.seq, index: index++ };
            const told = recipient.wantsCursors ? { ...params, cursor: cursorText(position) } : params;
            subscription.durable(position, method, notificationFrame(method, told, clock.now()));
          }
        }
      }
      if (head !== this.#ports.head()) continue;
      return this.#bringUp(subscription);
    }
  }

  #bringUp(subscription: Subscription): void {
    this.#ports.bringUp(subscription);
    this.#askPending(subscription);
  }

  #askPending(subscription: Subscription): void {
    if (subscription.lagging) return;
    for (const request of this.#ports.pending()) subscription.ask(request.id, requestFrame(request));
  }
}

function requestFrame({ id, method, params }: PendingRequest): Frame {
  return Frame.of({ id, method, params });
}
