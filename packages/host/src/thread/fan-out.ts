import type { NotificationName } from "@bobbin/protocol";
import { Encoded, Frame } from "@bobbin/rpc";
import type { Notification } from "../core/notification.ts";
import { notify } from "../core/notify.ts";
import { isSealed, type PendingRequest } from "../core/requests/records.ts";
import { notificationWithBlobs } from "../history/restore-item-blobs.ts";
import type { Cancel, Clock, Timers } from "../platform/platform.ts";
import type { JournalReader } from "../store/journal.ts";
import { notificationFrame } from "./notification-frame.ts";
import { withoutExperimentalFields } from "./request-without-experimental-fields.ts";
import { type Cursor, cursorText, type Recipient, Subscription } from "./subscription.ts";

/** The thread that the subscribers follow. */
export interface FollowedThread {
  readonly id: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly journal: JournalReader;
  /** The last commit that subscribers were notified of. */
  readonly head: number;
  /** Server requests that wait for an answer. */
  readonly requests: readonly PendingRequest[];
  /** Whether the thread is unloaded, or about to be. */
  readonly gone: boolean;
  /** Sends running text to a subscriber that has caught up, as far as the subscriber lacks it. */
  bringUp(subscription: Subscription): void;
  supervise(what: string, work: Promise<unknown>): void;
  /** The secret of a request: a URL for the user, which no record contains. */
  secretOf(requestId: number): string | undefined;
}

/** The delay before a journal that could not be read is read again. */
const AGAIN_MS = 1000;

/** The subscribers of one thread, and the notifications and requests that they are sent. */
export class FanOut {
  readonly #thread: FollowedThread;
  readonly #byRecipient = new Map<Recipient, Subscription>();
  /** Subscribers that follow the thread only because they follow its parent. They do not keep the thread loaded. */
  readonly #observers = new Set<Recipient>();
  /** Set while the end of the load waits until no subscriber lags. */
  #onNoneLagging: (() => void) | undefined;

  constructor(thread: FollowedThread) {
    this.#thread = thread;
  }

  get id(): string {
    return this.#thread.id;
  }

  get size(): number {
    return this.#byRecipient.size;
  }

  /** The number of subscribers that keep the thread loaded. */
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

  /** Adds a subscriber. The subscriber gets all notifications from now on, or all after a cursor. */
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
    recipient.undelivered.take(this.id)?.succeed(subscription, resumed);
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
    this.#checkNoneLagging();
    return followed;
  }

  /**
   * Ends the load. Waits for lagging subscribers until the timer that `startTimer` starts has ended; without
   * `startTimer`, does not wait. Subscribers that still lag are sent the rest later, as fast as they read.
   */
  async finish(startTimer: ((ended: () => void) => Cancel) | undefined): Promise<void> {
    if (startTimer !== undefined && this.#someoneLags()) {
      await new Promise<void>((done) => {
        const cancel = startTimer(done);
        this.#onNoneLagging = () => {
          cancel();
          done();
        };
      });
    }
    for (const subscription of this.#byRecipient.values()) subscription.finish();
  }

  /** Sends a durable notification to all live subscribers. Returns the frame for other connections. */
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

  /** Sends a request to all live subscribers. Lagging ones get it after catching up, if it is still pending. */
  ask(request: PendingRequest): void {
    const frame = this.#requestFrame(request);
    if (frame === undefined) return;
    const stable = withoutExperimentalFields(request);
    const stableFrame = stable === request ? frame : this.#requestFrame(stable)!;
    for (const subscription of this.#byRecipient.values()) {
      if (subscription.lagging) continue;
      subscription.ask(request.id, subscription.recipient.isExperimental ? frame : stableFrame);
    }
  }

  resolved(requestId: number): void {
    for (const subscription of this.#byRecipient.values()) subscription.resolved(requestId);
  }

  /** Called when a client cannot answer a request. Returns true if no other subscriber can answer it. */
  refused(recipient: Recipient, requestId: number): boolean {
    this.#byRecipient.get(recipient)?.refuse(requestId);
    return this.allRefused(requestId);
  }

  allRefused(requestId: number): boolean {
    return this.size > 0 && [...this.#byRecipient.values()].every((one) => one.hasRefused(requestId));
  }

  /** Sends a notification that is not in the journal. */
  tell(method: NotificationName, frame: Frame): void {
    for (const subscription of this.#byRecipient.values()) subscription.unrecorded(method, frame);
  }

  #someoneLags(): boolean {
    return [...this.#byRecipient.values()].some(({ lagging }) => lagging);
  }

  #checkNoneLagging(): void {
    if (this.#onNoneLagging === undefined || this.#someoneLags()) return;
    this.#onNoneLagging();
    this.#onNoneLagging = undefined;
  }

  catchUp(subscription: Subscription): void {
    const done = this.#catchUp(subscription).catch((cause) => {
      if (this.#thread.gone) return this.#giveUp(subscription);
      // The journal is read again later. Until then the subscriber gets nothing, because no notification may be
      // skipped.
      this.#thread.timers.after(AGAIN_MS, () => this.catchUp(subscription));
      throw cause;
    });
    this.#thread.supervise("catching up", done);
  }

  /** Stops catching up for a thread that was deleted in between: its journal cannot be replayed. */
  #giveUp(subscription: Subscription): void {
    if (!this.#follows(subscription)) return;
    const { id: threadId, clock } = this.#thread;
    const method = "thread/status/changed";
    const end = notificationFrame(method, { threadId, status: { type: "notLoaded" } }, clock.now());
    subscription.caughtUp();
    subscription.unrecorded(method, end);
    this.#caughtUp(subscription);
  }

  #caughtUp(subscription: Subscription): void {
    subscription.sendUnrecorded();
    subscription.recipient.undelivered.prune();
    this.#checkNoneLagging();
  }

  #follows(subscription: Subscription): boolean {
    return !subscription.stopped && this.#byRecipient.get(subscription.recipient) === subscription;
  }

  /** Replays from the journal the notifications that a subscriber missed. */
  async #catchUp(subscription: Subscription): Promise<void> {
    const { recipient } = subscription;
    const { journal, clock, id } = this.#thread;
    while (this.#follows(subscription)) {
      const { head } = this.#thread;
      for await (const { commit } of journal.forwards({ seq: subscription.next.seq })) {
        if (commit.seq > head) break;
        let index = 0;
        for (const record of commit.records) {
          for (const lean of notify(id, record)) {
            const { method, params } =
              (await notificationWithBlobs(lean, (name) => journal.blob(name))) ?? lean;
            if (!this.#follows(subscription)) return;
            if (recipient.congested) return recipient.waitForRoom(subscription);
            const position = { epoch: commit.epoch, seq: commit.seq, index: index++ };
            const sentParams = recipient.wantsCursors ? { ...params, cursor: cursorText(position) } : params;
            subscription.durable(position, method, notificationFrame(method, sentParams, clock.now()));
          }
        }
      }
      // In between, commits may have been added, or the subscription removed.
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
      const { isExperimental } = subscription.recipient;
      const frame = this.#requestFrame(isExperimental ? request : withoutExperimentalFields(request));
      if (frame !== undefined) subscription.ask(request.id, frame);
    }
  }

  /** The frame of a request; undefined if its secret is lost, because the request cannot be sent without it. */
  #requestFrame({ id, method, params, aside, argumentsJson }: PendingRequest): Frame | undefined {
    if (method === "item/tool/call" && argumentsJson !== undefined) {
      const { arguments: _, ...rest } = params;
      const exact = Encoded.with<typeof params, "arguments">(rest, "arguments", new Encoded(argumentsJson));
      return new Frame(`{"id":${id},"method":"${method}","params":${exact.json}}`);
    }
    if (!isSealed({ aside })) return Frame.of({ id, method, params });
    const url = this.#thread.secretOf(id);
    return url === undefined ? undefined : Frame.of({ id, method, params: { ...params, url } });
  }
}
