import type { NotificationName } from "@bobbin/protocol";
import type { Frame } from "@bobbin/rpc";
import type { Unfinished } from "./unfinished.ts";

/** A durable notification's place: the commit, and which of the commit's notifications it is. */
export interface Position {
  readonly seq: number;
  readonly index: number;
}

/**
 * What a client is given to come back with. The epoch tells whether the journal still has what the client saw:
 * after a power cut the same seq may be another commit.
 */
export interface Cursor extends Position {
  readonly epoch: number;
}

export function cursorText({ epoch, seq, index }: Cursor): string {
  return `${epoch}.${seq}.${index}`;
}

/** Undefined for what is no cursor of ours. */
export function parseCursor(text: string): Cursor | undefined {
  const found = /^(\d{1,9})\.(\d{1,15})\.(\d{1,9})$/.exec(text);
  if (found === null) return undefined;
  return { epoch: Number(found[1]), seq: Number(found[2]), index: Number(found[3]) };
}

/** A connection as a thread sees it. */
export interface Recipient {
  /** Whether durable notifications carry their cursor. */
  readonly wantsCursors: boolean;
  /** False for methods that the client opted out of. */
  wants(method: NotificationName): boolean;
  /** Takes a frame; the outbox sends it, queues it, or drops it and lets the subscription lag. */
  deliver(subscription: Subscription, outgoing: Outgoing): void;
  readonly unfinished: Unfinished;
  /** True while frames wait: a subscription that catches up stops then and is called again. */
  readonly congested: boolean;
  waitForRoom(subscription: Subscription): void;
}

/** `before`: where the subscription stood before this frame, so that dropping it means going back there. */
export interface Outgoing {
  readonly frame: Frame;
  readonly before: Standing;
  /** Set if the frame is text of one stream. */
  readonly delta?: TextDelta;
  /** Set if the frame is in no record: it can not be made again, and waits for what is. */
  readonly aside?: NotificationName;
}

/** A piece of a running item's text. Neighbouring ones of the same stream may merge. */
export interface TextDelta {
  readonly stream: TextStream;
  readonly text: string;
  /** Nothing of the stream was sent before it. */
  readonly opens: boolean;
}

/** A text that an item grows: `head` is the JSON of its delta notification up to the text itself. */
export interface TextStream {
  readonly itemId: string;
  readonly method: NotificationName;
  readonly head: string;
  /** The JSON of a notification that tells the stream's beginning, up to its time; most have none. */
  readonly opening: string | undefined;
  /** All of it so far. */
  text: string;
}

/** The messages that tell some text, given in pieces. */
export function deltaMessages({ stream, opens }: TextDelta, pieces: readonly string[], at: number): string[] {
  const messages = pieces.map((text) => `${stream.head}${JSON.stringify(text)}},"emittedAtMs":${at}}`);
  if (opens && stream.opening !== undefined) messages.unshift(`${stream.opening},"emittedAtMs":${at}}`);
  return messages;
}

/**
 * How far a subscriber is: the next durable notification it is due, how much running text it has, and which
 * questions it was asked.
 */
export interface Standing {
  readonly next: Position;
  readonly shown: ReadonlyMap<TextStream, number>;
  readonly asked: readonly number[];
}

/** What a subscription is of. */
interface Followed {
  readonly id: string;
  catchUp(subscription: Subscription): void;
}

const NOTHING_SHOWN: ReadonlyMap<TextStream, number> = new Map();
const NONE: readonly never[] = [];

/**
 * One connection's view of one thread. Either live, or lagging: then nothing is sent to it until its outbox
 * has room, and it catches up from where it stood. A load's end does not end that: what is left to tell is told.
 */
export class Subscription {
  readonly recipient: Recipient;
  readonly #thread: Followed;
  #next: Position;
  /** There are as many of these as threads are followed: what most of them never need is made when they do. */
  #shown: ReadonlyMap<TextStream, number> = NOTHING_SHOWN;
  #asked: readonly number[] = NONE;
  /** Questions that this client can not answer. */
  #refused: readonly number[] = NONE;
  #lagging = false;
  /** What is in no record and came while it lagged: the last of each kind. */
  #aside: Map<NotificationName, Frame> | undefined;
  #finished = false;
  #stopped = false;
  /** The next load's, which takes over what this one has not told. */
  #successor: Subscription | undefined;

  constructor(thread: Followed, recipient: Recipient, next: Position) {
    this.#thread = thread;
    this.recipient = recipient;
    this.#next = next;
  }

  get threadId(): string {
    return this.#thread.id;
  }

  /** Makes again what was missed. */
  catchUp(): void {
    this.#thread.catchUp(this);
  }

  get next(): Position {
    return this.#next;
  }

  get lagging(): boolean {
    return this.#lagging;
  }

  /** Someone else tells the rest. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** How much of a running text this subscriber has. */
  shown(stream: TextStream): number {
    return this.#shown.get(stream) ?? 0;
  }

  /** Sends a durable notification, unless it was sent before or the subscriber does not want it. */
  durable(position: Position, method: NotificationName, frame: Frame): void {
    if (isBefore(position, this.#next)) return;
    const before = this.#standing();
    this.#next = { seq: position.seq, index: position.index + 1 };
    if (this.recipient.wants(method)) this.recipient.deliver(this, { frame, before });
  }

  /** Sends running text; `frame` may hold it in several pieces, `delta` is all of it in one. */
  text(delta: TextDelta, end: number, frame: Frame): void {
    const before = this.#standing();
    this.#shownNow().set(delta.stream, end);
    if (!this.recipient.wants(delta.stream.method)) return;
    this.recipient.deliver(this, { frame, before, delta });
  }

  /** Asks, unless it was asked before. */
  ask(requestId: number, frame: Frame): void {
    if (this.#asked.includes(requestId)) return;
    const before = this.#standing();
    this.#asked = [...this.#asked, requestId];
    this.recipient.deliver(this, { frame, before });
  }

  /** It comes anew, and may have forgotten what it was asked. */
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

  /** Sends something that is in no record; behind all that is. */
  aside(method: NotificationName, frame: Frame): void {
    if (!this.recipient.wants(method)) return;
    if (!this.#lagging) {
      return this.recipient.deliver(this, { frame, before: this.#standing(), aside: method });
    }
    this.#aside ??= new Map();
    this.#aside.delete(method);
    this.#aside.set(method, frame);
  }

  /** The text is complete: how much of it was shown no longer matters. */
  ended(stream: TextStream): void {
    if (this.#shown.has(stream)) this.#shownNow().delete(stream);
  }

  /**
   * Called by the outbox when it drops a frame: everything from there on has to be made again. Gives the
   * subscription that will.
   */
  lag(before: Standing = { next: this.#next, shown: this.#shown, asked: this.#asked }): Subscription {
    if (this.#successor !== undefined) return this.#successor.lag(before);
    if (this.#lagging) return this;
    this.#lagging = true;
    this.#next = before.next;
    this.#shown = before.shown.size === 0 ? NOTHING_SHOWN : new Map(before.shown);
    this.#asked = before.asked;
    return this;
  }

  /** It has all that is in records. */
  caughtUp(): void {
    this.#lagging = false;
  }

  /** What waited for it to catch up is sent. */
  tellAside(): void {
    for (const [method, frame] of this.#aside ?? NONE) {
      if (this.#lagging) return;
      this.#aside?.delete(method);
      this.aside(method, frame);
    }
  }

  /** The load is over: as long as something of it may be on its way, what else is told of the thread comes behind. */
  finish(): void {
    this.#finished = true;
    if (!this.done) this.recipient.unfinished.add(this);
  }

  /** Nothing of it is on its way any more. */
  get done(): boolean {
    return this.#finished && !this.#lagging && !this.recipient.congested;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** A new load is followed. `resumed`: it is told what this one has not told; else whoever asked said from where on. */
  succeed(successor: Subscription, resumed: boolean): void {
    this.stop();
    if (!resumed) return;
    this.#successor = successor;
    if (this.#lagging) successor.lag({ next: this.#next, shown: this.#shown, asked: [] });
  }

  #shownNow(): Map<TextStream, number> {
    if (this.#shown === NOTHING_SHOWN) this.#shown = new Map();
    return this.#shown as Map<TextStream, number>;
  }

  /** Only a frame that has to wait can be dropped, so only then is a copy worth its cost. */
  #standing(): Standing {
    const shown =
      this.recipient.congested && this.#shown !== NOTHING_SHOWN ? new Map(this.#shown) : this.#shown;
    return { next: this.#next, shown, asked: this.#asked };
  }
}

function isBefore(one: Position, other: Position): boolean {
  return one.seq < other.seq || (one.seq === other.seq && one.index < other.index);
}
