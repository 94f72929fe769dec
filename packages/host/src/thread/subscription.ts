import type { NotificationName } from "@bobbin/protocol";
import type { Frame } from "@bobbin/rpc";
import type { UndeliveredSubscriptions } from "./undelivered-subscriptions.ts";

/** The position of a durable notification: its commit, and its index among the commit's notifications. */
export interface NotificationPosition {
  readonly seq: number;
  readonly index: number;
}

/**
 * The cursor after which a client can resume. The epoch shows whether the journal still contains what the client got:
 * after a power cut, another commit may have the same `seq`.
 */
export interface Cursor extends NotificationPosition {
  readonly epoch: number;
}

export function cursorText({ epoch, seq, index }: Cursor): string {
  return `${epoch}.${seq}.${index}`;
}

/** Undefined if the text is not a valid cursor. */
export function parseCursor(text: string): Cursor | undefined {
  const found = /^(\d{1,9})\.(\d{1,15})\.(\d{1,9})$/.exec(text);
  if (found === null) return undefined;
  return { epoch: Number(found[1]), seq: Number(found[2]), index: Number(found[3]) };
}

/** A connection that receives notifications of threads. */
export interface Recipient {
  /** Whether durable notifications carry their cursor. */
  readonly wantsCursors: boolean;
  /** Whether the client has the experimental capability. */
  readonly isExperimental: boolean;
  /** Whether the client wants this notification; false if it opted out. */
  wants(method: NotificationName): boolean;
  /** Sends a frame, queues it, or drops it. After a drop, the subscription lags. */
  deliver(subscription: Subscription, outgoing: Outgoing): void;
  readonly undelivered: UndeliveredSubscriptions;
  /**
   * True while frames are queued. A subscription that catches up pauses then, and continues when the queue has room.
   */
  readonly congested: boolean;
  waitForRoom(subscription: Subscription): void;
}

/** A frame for a subscriber. `before`: the progress to which the subscription returns if the frame is dropped. */
export interface Outgoing {
  readonly frame: Frame;
  readonly before: Progress;
  /** Set if the frame is text of one stream. */
  readonly delta?: TextDelta;
  /**
   * The method of a notification that is not in the journal. It cannot be replayed, so it is sent after a replay.
   */
  readonly unrecorded?: NotificationName;
}

/** A piece of a running item's text. Adjacent pieces of the same stream may be merged. */
export interface TextDelta {
  readonly stream: ItemText;
  readonly text: string;
  /** Whether this is the first piece of the stream. */
  readonly opens: boolean;
}

/** A growing text of an item. `head`: the JSON of its delta notification, up to the place of the text. */
export interface ItemText {
  readonly itemId: string;
  readonly method: NotificationName;
  readonly head: string;
  /** The JSON of the notification that starts the stream, up to the place of its time; undefined for most streams. */
  readonly opening: string | undefined;
  /** The text so far. */
  text: string;
}

/** The delta notifications for pieces of text, as JSON. */
export function deltaMessages({ stream, opens }: TextDelta, pieces: readonly string[], at: number): string[] {
  const messages = pieces.map((text) => `${stream.head}${JSON.stringify(text)}},"emittedAtMs":${at}}`);
  if (opens && stream.opening !== undefined) messages.unshift(`${stream.opening},"emittedAtMs":${at}}`);
  return messages;
}

/**
 * How far a subscriber has got: the next durable notification, the sent lengths of running texts, and the sent
 * requests.
 */
export interface Progress {
  readonly next: NotificationPosition;
  readonly shown: ReadonlyMap<ItemText, number>;
  readonly asked: readonly number[];
}

/** The thread of a subscription. */
interface Followed {
  readonly id: string;
  catchUp(subscription: Subscription): void;
}

const NOTHING_SHOWN: ReadonlyMap<ItemText, number> = new Map();
const NONE: readonly never[] = [];

/**
 * One connection's subscription to one thread, live or lagging. A lagging subscription sends nothing until the
 * connection's outbox has room. Then it catches up from its progress, even after the end of the load.
 */
export class Subscription {
  readonly recipient: Recipient;
  readonly #thread: Followed;
  #next: NotificationPosition;
  // Rarely used collections are created on demand, because a host has many subscriptions.
  #shown: ReadonlyMap<ItemText, number> = NOTHING_SHOWN;
  #asked: readonly number[] = NONE;
  /** Requests that this client cannot answer. */
  #refused: readonly number[] = NONE;
  #lagging = false;
  /** Notifications without a record that came while the subscription lagged: the last one of each method. */
  #unrecorded: Map<NotificationName, Frame> | undefined;
  #finished = false;
  #stopped = false;
  /** The subscription to the next load, which takes over the undelivered notifications. */
  #successor: Subscription | undefined;

  constructor(thread: Followed, recipient: Recipient, next: NotificationPosition) {
    this.#thread = thread;
    this.recipient = recipient;
    this.#next = next;
  }

  get threadId(): string {
    return this.#thread.id;
  }

  /** Replays the missed notifications from the journal. */
  catchUp(): void {
    this.#thread.catchUp(this);
  }

  get next(): NotificationPosition {
    return this.#next;
  }

  get lagging(): boolean {
    return this.#lagging;
  }

  /** True if another subscription delivers the rest, or if the client has disconnected. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** The length of a running text that was sent to this subscriber. */
  shown(stream: ItemText): number {
    return this.#shown.get(stream) ?? 0;
  }

  /** Sends a durable notification, unless it was sent before or the subscriber does not want it. */
  durable(position: NotificationPosition, method: NotificationName, frame: Frame): void {
    if (isBefore(position, this.#next)) return;
    const before = this.#progress();
    this.#next = { seq: position.seq, index: position.index + 1 };
    if (this.recipient.wants(method)) this.recipient.deliver(this, { frame, before });
  }

  /** Sends running text. `frame` contains the text in one or more pieces, `delta` as a whole. */
  text(delta: TextDelta, end: number, frame: Frame): void {
    const before = this.#progress();
    this.#shownNow().set(delta.stream, end);
    if (!this.recipient.wants(delta.stream.method)) return;
    this.recipient.deliver(this, { frame, before, delta });
  }

  /** Sends a server request, unless it was sent before. */
  ask(requestId: number, frame: Frame): void {
    if (this.#asked.includes(requestId)) return;
    const before = this.#progress();
    this.#asked = [...this.#asked, requestId];
    this.recipient.deliver(this, { frame, before });
  }

  /** A client that resumes may have forgotten its requests, so they are sent again. */
  askAgain(): void {
    this.#asked = NONE;
    this.#refused = NONE;
  }

  refuse(requestId: number): void {
    this.#refused = [...this.#refused, requestId];
  }

  hasRefused(requestId: number): boolean {
    return this.#refused.includes(requestId);
  }

  resolved(requestId: number): void {
    this.#asked = this.#asked.filter((id) => id !== requestId);
    this.#refused = this.#refused.filter((id) => id !== requestId);
  }

  /** Sends a notification that is not in the journal, after all recorded notifications. */
  unrecorded(method: NotificationName, frame: Frame): void {
    if (!this.recipient.wants(method)) return;
    if (!this.#lagging) {
      return this.recipient.deliver(this, { frame, before: this.#progress(), unrecorded: method });
    }
    this.#unrecorded ??= new Map();
    this.#unrecorded.delete(method);
    this.#unrecorded.set(method, frame);
  }

  /** Called when a running text is complete. Its sent length is no longer needed. */
  ended(stream: ItemText): void {
    if (this.#shown.has(stream)) this.#shownNow().delete(stream);
  }

  /**
   * Called by the outbox when it drops a frame. Everything from that frame on has to be replayed. Returns the
   * subscription that will do so.
   */
  lag(before: Progress = { next: this.#next, shown: this.#shown, asked: this.#asked }): Subscription {
    if (this.#successor !== undefined) return this.#successor.lag(before);
    if (this.#lagging) return this;
    this.#lagging = true;
    this.#next = before.next;
    this.#shown = before.shown.size === 0 ? NOTHING_SHOWN : new Map(before.shown);
    this.#asked = before.asked;
    return this;
  }

  /** All recorded notifications were sent, so the subscription is live again. */
  caughtUp(): void {
    this.#lagging = false;
  }

  /** Sends the notifications without a record that came while the subscription lagged. */
  sendUnrecorded(): void {
    for (const [method, frame] of this.#unrecorded ?? NONE) {
      if (this.#lagging) return;
      this.#unrecorded?.delete(method);
      this.unrecorded(method, frame);
    }
  }

  /** The load is over. Later notifications about the thread wait until those of this load are delivered. */
  finish(): void {
    this.#finished = true;
    if (!this.done) this.recipient.undelivered.add(this);
  }

  /** Whether everything of this load was delivered. */
  get done(): boolean {
    return this.#finished && !this.#lagging && !this.recipient.congested;
  }

  stop(): void {
    this.#stopped = true;
  }

  /**
   * Ends this subscription, because the connection follows a new load of the thread. `resumed`: the successor also
   * delivers what this subscription has not delivered. Otherwise the client named the cursor to start from.
   */
  succeed(successor: Subscription, resumed: boolean): void {
    this.stop();
    if (!resumed) return;
    this.#successor = successor;
    if (this.#lagging) successor.lag({ next: this.#next, shown: this.#shown, asked: [] });
  }

  #shownNow(): Map<ItemText, number> {
    if (this.#shown === NOTHING_SHOWN) this.#shown = new Map();
    return this.#shown as Map<ItemText, number>;
  }

  /** Copies the sent lengths only if the next frame has to wait, because only a waiting frame can be dropped. */
  #progress(): Progress {
    const shown =
      this.recipient.congested && this.#shown !== NOTHING_SHOWN ? new Map(this.#shown) : this.#shown;
    return { next: this.#next, shown, asked: this.#asked };
  }
}

function isBefore(one: NotificationPosition, other: NotificationPosition): boolean {
  return one.seq < other.seq || (one.seq === other.seq && one.index < other.index);
}
