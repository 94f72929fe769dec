import type { NotificationName } from "@bobbin/protocol";
import { Frame, type Link } from "@bobbin/rpc";
import type { Clock } from "../platform/platform.ts";
import {
  deltaMessages,
  type Outgoing,
  type Standing,
  type Subscription,
  type TextDelta,
} from "../thread/subscription.ts";
import { Unfinished } from "../thread/unfinished.ts";

/** Up to here a frame goes straight to the wire; past it, it waits here, where it can be merged or dropped. */
const WIRE_BYTES = 256 * 1024;
/** What may wait of threads' notifications before they are dropped and their subscriptions lag. */
const QUEUE_BYTES = 4 * 1024 * 1024;
/** Replies are never dropped; with this many bytes of them waiting, the connection is not read any further. */
const REPLY_BYTES = 1024 * 1024;
/** Notices are kept to the last of each key; a client that lets even those pile up is cut off. */
const NOTICE_BYTES = 8 * 1024 * 1024;

type Waiting = WaitingReply | WaitingThread;

interface WaitingReply {
  readonly kind: "reply";
  readonly frame: Frame;
  readonly size: number;
}

interface WaitingThread {
  readonly kind: "thread";
  readonly subscription: Subscription;
  readonly before: Standing;
  /** Undefined once text was merged into `delta`: encoded when it is sent, not at every merge. */
  frame: Frame | undefined;
  delta: TextDelta | undefined;
  readonly aside: NotificationName | undefined;
  size: number;
}

/** What everyone is told of a thread. */
interface Notice {
  readonly threadId: string;
  readonly method: NotificationName;
  readonly frame: Frame;
}

/**
 * What is on its way to one client. A client that does not read costs a bounded number of bytes: its replies
 * hold back its requests, its threads' notifications are dropped and made again from the journal later.
 */
export class Outbox {
  readonly #link: Link;
  readonly #clock: Clock;
  readonly #onSlow: () => void;
  #queue: Waiting[] = [];
  /** Sent when the queue is empty: the last of each kind and thread, in the order in which they came. */
  readonly #notices = new Map<string, Notice>();
  readonly unfinished = new Unfinished();
  readonly #bytes = { reply: 0, notice: 0, thread: 0 };
  #paused = false;
  readonly #lagging = new Set<Subscription>();
  readonly #waitingForRoom: (() => void)[] = [];
  #closed = false;

  constructor(link: Link, clock: Clock, onSlow: () => void) {
    this.#link = link;
    this.#clock = clock;
    this.#onSlow = onSlow;
  }

  get congested(): boolean {
    return this.#queue.length > 0 || this.#notices.size > 0 || this.#link.backlog >= WIRE_BYTES;
  }

  /** Resolves when the next frame goes straight to the wire, or never will; undefined if it does now. */
  room(): Promise<void> | undefined {
    if (!this.congested || this.#closed) return undefined;
    return new Promise((resolve) => this.#waitingForRoom.push(resolve));
  }

  /** Nobody is there to read any more. */
  close(): void {
    this.#closed = true;
    for (const resolve of this.#waitingForRoom.splice(0)) resolve();
  }

  /** Never dropped. */
  reply(frame: Frame): void {
    if (!this.congested) return this.#link.send(frame);
    this.#push({ kind: "reply", frame, size: sizeOf(frame) });
    if (this.#bytes.reply > REPLY_BYTES && !this.#paused) {
      this.#paused = true;
      this.#link.pause();
    }
  }

  /** For what every connection is told; under pressure only the last one of a kind and thread is kept. */
  notice(notice: Notice): void {
    const { threadId, method, frame } = notice;
    const behind = this.unfinished.get(threadId);
    if (behind?.lagging) return behind.aside(method, frame);
    if (!this.congested) return this.#link.send(frame, true);
    const key = `${method} ${threadId}`;
    this.#dropNotice(key);
    this.#notices.set(key, notice);
    this.#bytes.notice += sizeOf(frame);
    if (this.#bytes.notice > NOTICE_BYTES) this.#onSlow();
  }

  thread(subscription: Subscription, { frame, before, delta, aside }: Outgoing): void {
    if (!this.congested) return this.#link.send(frame);
    const last = this.#queue.at(-1);
    if (last?.kind === "thread" && last.subscription === subscription && sameStream(last.delta, delta)) {
      last.delta = { ...last.delta!, text: last.delta!.text + delta!.text };
      last.frame = undefined;
      last.size += delta!.text.length;
      this.#bytes.thread += delta!.text.length;
    } else {
      this.#push({ kind: "thread", subscription, before, frame, delta, aside, size: sizeOf(frame) });
    }
    if (this.#bytes.thread > QUEUE_BYTES) this.#shed();
  }

  /** The wire has room again. */
  drained(): void {
    let sent = 0;
    while (sent < this.#queue.length && this.#link.backlog < WIRE_BYTES) {
      const waiting = this.#queue[sent++]!;
      this.#bytes[waiting.kind] -= waiting.size;
      this.#link.send(waiting.frame ?? this.#encode(waiting));
    }
    this.#queue.splice(0, sent);
    if (this.#queue.length === 0) this.#sendNotices();
    if (this.#paused && this.#bytes.reply <= REPLY_BYTES / 2) {
      this.#paused = false;
      this.#link.resume();
    }
    for (const subscription of [...this.#lagging]) {
      if (this.congested) return;
      this.#lagging.delete(subscription);
      subscription.catchUp();
    }
    this.unfinished.look();
    if (!this.congested) for (const resolve of this.#waitingForRoom.splice(0)) resolve();
  }

  /** Hands over all that waits, whatever the wire has: it is about to be closed, and writes out what it has. */
  flush(): void {
    for (const waiting of this.#queue.splice(0)) {
      this.#bytes[waiting.kind] -= waiting.size;
      this.#link.send(waiting.frame ?? this.#encode(waiting));
    }
    for (const [key, { frame }] of this.#notices) {
      this.#dropNotice(key);
      this.#link.send(frame);
    }
  }

  /** A subscription that can not finish catching up is called again when there is room. */
  waitForRoom(subscription: Subscription): void {
    this.#lagging.add(subscription);
  }

  #sendNotices(): void {
    for (const [key, { frame }] of this.#notices) {
      if (this.#link.backlog >= WIRE_BYTES) return;
      this.#dropNotice(key);
      this.#link.send(frame);
    }
  }

  #dropNotice(key: string): void {
    const notice = this.#notices.get(key);
    if (notice === undefined) return;
    this.#notices.delete(key);
    this.#bytes.notice -= sizeOf(notice.frame);
  }

  #encode(waiting: Waiting): Frame {
    return waiting.kind === "reply"
      ? waiting.frame
      : new Frame(...deltaMessages(waiting.delta!, [waiting.delta!.text], this.#clock.now()));
  }

  #push(waiting: Waiting): void {
    this.#queue.push(waiting);
    this.#bytes[waiting.kind] += waiting.size;
  }

  #shed(): void {
    const kept: Waiting[] = [];
    for (const waiting of this.#queue) {
      if (waiting.kind === "reply") {
        kept.push(waiting);
      } else {
        const lagging = waiting.subscription.lag(waiting.before);
        this.#lagging.add(lagging);
        if (waiting.aside !== undefined) lagging.aside(waiting.aside, waiting.frame!);
      }
    }
    this.#queue = kept;
    this.#bytes.thread = 0;
    // What waits behind the queue has to wait behind what will be made again of it, too.
    for (const [key, { threadId, method, frame }] of this.#notices) {
      const behind = this.unfinished.get(threadId);
      if (!behind?.lagging) continue;
      this.#dropNotice(key);
      behind.aside(method, frame);
    }
  }
}

/** Characters, not bytes: close enough for a bound, and free. */
function sizeOf(frame: Frame): number {
  let size = 0;
  for (const message of frame.messages) size += message.length;
  return size;
}

/** Neighbouring pieces of one text may become one. */
function sameStream(one: TextDelta | undefined, other: TextDelta | undefined): boolean {
  return one !== undefined && one.stream === other?.stream;
}
