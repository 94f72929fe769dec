import type { NotificationName } from "@bobbin/protocol";
import { Encoded, Frame } from "@bobbin/rpc";
import type { Notification } from "../core/notification.ts";
import { notify } from "../core/notify.ts";
import type { PendingRequest } from "../core/requests/records.ts";
import type { JournalReader } from "../journal/journal.ts";
import type { Cancel, Clock, Timers } from "../platform/platform.ts";
import { notificationFrame } from "./notification-frame.ts";
import { type Cursor, cursorText, type Recipient, Subscription } from "./subscription.ts";

/** A thread as its followers need it. */
export interface FollowedThread {
  readonly id: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly journal: JournalReader;
  /** The last commit that was told. */
  readonly head: number;
  /** Questions that wait for an answer. */
  readonly requests: readonly PendingRequest[];
  /** It is not loaded any more, or about to be. */
  readonly gone: boolean;
  /** Gives a subscriber that has caught up the running items' missing text. */
  bringUp(subscription: Subscription): void;
  supervise(what: string, work: Promise<unknown>): void;
  /** What a question is asked with that no record holds. */
  secretOf(requestId: number): string | undefined;
}

/** When a journal that could not be read is read again. */
const AGAIN_MS = 1000;

/** Who follows a thread, and what they are sent: the fan-out of one thread. */
export class Subscriptions {
  readonly #thread: FollowedThread;
  readonly #byRecipient = new Map<Recipient, Subscription>();
  /** Those of them who see it only because they follow its parent. */
  readonly #observers = new Set<Recipient>();
  /** Set while the end of the load waits for those who are behind. */
  #allThere: (() => void) | undefined;

  constructor(thread: FollowedThread) {
    this.#thread = thread;
  }

  get id(): string {
    return this.#thread.id;
  }

  get size(): number {
    return this.#byRecipient.size;
  }

  /** Those who keep it loaded. */
  get retaining(): number {
    return this.size - this.#observers.size;
  }

  retains(recipient: Recipient): boolean {
    return this.has(recipient) && !this.#observers.has(recipient);
  }

  has(recipient: Recipient): boolean {
    return this.#byRecipient.has(recipient);
  }

  [Symbol.iterator](): Iterator<Subscription> {
    return this.#byRecipient.values();
  }

  /** From the next notification on, or from the one after a cursor. */
  add(recipient: Recipient, after?: Cursor): void {
    this.#observers.delete(recipient);
    const resumed = after === undefined;
    const known = this.#byRecipient.get(recipient);
    if (resumed && known !== undefined) {
      known.askAgain();
      return this.#askPending(known);
    }
    const next = resumed
      ? { seq: this.#thread.head + 1, index: 0 }
      : { seq: after.seq, index: after.index + 1 };
    const subscription = new Subscription(this, recipient, next);
    this.#byRecipient.set(recipient, subscription);
    if (!resumed) subscription.lag();
    recipient.unfinished.take(this.id)?.succeed(subscription, resumed);
    if (subscription.lagging) subscription.catchUp();
    else this.#bringUp(subscription);
  }

  observe(recipient: Recipient): void {
    this.add(recipient);
    this.#observers.add(recipient);
  }

  remove(recipient: Recipient): boolean {
    this.#observers.delete(recipient);
    const followed = this.#byRecipient.delete(recipient);
    this.#look();
    return followed;
  }

  /**
   * The load is over and its end is told: those who are behind get a while to hear it, if there is `patience`,
   * which says when it is over. What they have not heard then is told all the same, as they take it.
   */
  async finish(patience: ((over: () => void) => Cancel) | undefined): Promise<void> {
    if (patience !== undefined && this.#someoneLags()) {
      await new Promise<void>((done) => {
        const cancel = patience(done);
        this.#allThere = () => {
          cancel();
          done();
        };
      });
    }
    for (const subscription of this.#byRecipient.values()) subscription.finish();
  }

  /** Sends a durable notification to all who are not behind; gives the frame for those who do not follow. */
  durable(position: Cursor, { method, params }: Notification): Frame {
    const at = this.#thread.clock.now();
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
    const frame = this.#requestFrame(request);
    if (frame === undefined) return;
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
    for (const subscription of this.#byRecipient.values()) subscription.aside(method, frame);
  }

  #someoneLags(): boolean {
    return [...this.#byRecipient.values()].some(({ lagging }) => lagging);
  }

  #look(): void {
    if (this.#allThere === undefined || this.#someoneLags()) return;
    this.#allThere();
    this.#allThere = undefined;
  }

  catchUp(subscription: Subscription): void {
    const done = this.#catchUp(subscription).catch((cause) => {
      if (this.#thread.gone) return this.#giveUp(subscription);
      // What can not be read now may be later; until then it hears nothing, because nothing may be left out.
      this.#thread.timers.after(AGAIN_MS, () => this.catchUp(subscription));
      throw cause;
    });
    this.#thread.supervise("catching up", done);
  }

  /** A thread that was deleted meanwhile has nothing left to make good from. */
  #giveUp(subscription: Subscription): void {
    if (!this.#follows(subscription)) return;
    const { id: threadId, clock } = this.#thread;
    const method = "thread/status/changed";
    const end = notificationFrame(method, { threadId, status: { type: "notLoaded" } }, clock.now());
    subscription.caughtUp();
    subscription.aside(method, end);
    this.#caughtUp(subscription);
  }

  #caughtUp(subscription: Subscription): void {
    subscription.tellAside();
    subscription.recipient.unfinished.look();
    this.#look();
  }

  #follows(subscription: Subscription): boolean {
    return !subscription.stopped && this.#byRecipient.get(subscription.recipient) === subscription;
  }

  /** Makes again, from the journal, what a subscriber missed. */
  async #catchUp(subscription: Subscription): Promise<void> {
    const { recipient } = subscription;
    const { journal, clock, id } = this.#thread;
    while (this.#follows(subscription)) {
      const { head } = this.#thread;
      for await (const { commit } of journal.forwards(await journal.locate(subscription.next.seq - 1))) {
        if (commit.seq > head) break;
        let index = 0;
        for (const record of commit.records) {
          for (const { method, params } of notify(id, record)) {
            if (!this.#follows(subscription)) return;
            if (recipient.congested) return recipient.waitForRoom(subscription);
            const position = { epoch: commit.epoch, seq: commit.seq, index: index++ };
            const told = recipient.wantsCursors ? { ...params, cursor: cursorText(position) } : params;
            subscription.durable(position, method, notificationFrame(method, told, clock.now()));
          }
        }
      }
      // Whether it still is to be told may have changed meanwhile, and so may what.
      if (head !== this.#thread.head || !this.#follows(subscription)) continue;
      this.#bringUp(subscription);
      return this.#caughtUp(subscription);
    }
  }

  #bringUp(subscription: Subscription): void {
    this.#thread.bringUp(subscription);
    this.#askPending(subscription);
  }

  #askPending(subscription: Subscription): void {
    if (subscription.lagging) return;
    for (const request of this.#thread.requests) {
      const frame = this.#requestFrame(request);
      if (frame !== undefined) subscription.ask(request.id, frame);
    }
  }

  /** Undefined for one that nobody can be asked any more. */
  #requestFrame({ id, method, params, aside, argumentsJson }: PendingRequest): Frame | undefined {
    if (method === "item/tool/call" && argumentsJson !== undefined) {
      const { arguments: _, ...rest } = params;
      const exact = Encoded.with<typeof params, "arguments">(rest, "arguments", new Encoded(argumentsJson));
      return new Frame(`{"id":${id},"method":"${method}","params":${exact.json}}`);
    }
    if (aside?.kind !== "oauth") return Frame.of({ id, method, params });
    const url = this.#thread.secretOf(id);
    return url === undefined ? undefined : Frame.of({ id, method, params: { ...params, url } });
  }
}
