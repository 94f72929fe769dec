import type { NotificationName } from "@bobbin/protocol";
import { Frame, type Link } from "@bobbin/rpc";
import type { Clock } from "../platform/platform.ts";
import {
  deltaMessages,
  type Outgoing,
  type Progress,
  type Subscription,
  type TextDelta,
} from "../thread/subscription.ts";
import { UndeliveredSubscriptions } from "../thread/undelivered-subscriptions.ts";

/**
 * Up to this backlog, in bytes, frames go directly to the link. Above it, frames are queued here, where they can be
 * merged or dropped.
 */
const LINK_BYTES = 256 * 1024;
/**
 * Limit on the queued bytes of thread notifications. Above it, notifications are dropped, and their subscriptions
 * lag.
 */
const QUEUE_BYTES = 4 * 1024 * 1024;
/**
 * Limit on the queued bytes of replies. Replies are never dropped; above the limit, no more requests are read from
 * the connection.
 */
const REPLY_BYTES = 1024 * 1024;
/**
 * Limit on the queued bytes of notices. Only the last notice per method and thread stays queued. A client that still
 * exceeds the limit is disconnected.
 */
const NOTICE_BYTES = 8 * 1024 * 1024;

type QueuedMessage = QueuedReply | QueuedNotification;

interface QueuedReply {
  readonly kind: "reply";
  readonly frame: Frame;
  readonly size: number;
}

interface QueuedNotification {
  readonly kind: "thread";
  readonly subscription: Subscription;
  readonly before: Progress;
  /** Undefined after text was merged into `delta`, which is encoded when it is sent, not at each merge. */
  frame: Frame | undefined;
  delta: TextDelta | undefined;
  readonly unrecorded: NotificationName | undefined;
  size: number;
}

/** A notification about a thread that goes to every connection. */
interface Notice {
  readonly threadId: string;
  readonly method: NotificationName;
  readonly frame: Frame;
}

/**
 * The queue of outgoing messages for one client. A client that does not read uses a bounded amount of memory: while
 * its replies are unread, no more requests are read, and thread notifications are dropped and later replayed from the
 * journal.
 */
export class Outbox {
  readonly #link: Link;
  readonly #clock: Clock;
  readonly #onSlow: () => void;
  #queue: QueuedMessage[] = [];
  /** Sent when the queue is empty: the last notice per method and thread, in the order of arrival. */
  readonly #notices = new Map<string, Notice>();
  readonly undelivered = new UndeliveredSubscriptions();
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
    return this.#queue.length > 0 || this.#notices.size > 0 || this.#link.backlog >= LINK_BYTES;
  }

  /**
   * Resolves when the next frame can go directly to the link, or when the link has ended; undefined if a frame can go
   * directly now.
   */
  room(): Promise<void> | undefined {
    if (!this.congested || this.#closed) return undefined;
    return new Promise((resolve) => this.#waitingForRoom.push(resolve));
  }

  /** Called when the client has disconnected. */
  close(): void {
    this.#closed = true;
    for (const resolve of this.#waitingForRoom.splice(0)) resolve();
  }

  /** Sends a reply. Replies are never dropped. */
  reply(frame: Frame): void {
    if (!this.congested) return this.#link.send(frame);
    this.#push({ kind: "reply", frame, size: sizeOf(frame) });
    if (this.#bytes.reply > REPLY_BYTES && !this.#paused) {
      this.#paused = true;
      this.#link.pause();
    }
  }

  /**
   * Sends a notice that goes to every connection. If the client lags, only the last one per method and thread
   * stays queued.
   */
  notice(notice: Notice): void {
    const { threadId, method, frame } = notice;
    const behind = this.undelivered.get(threadId);
    if (behind?.lagging) return behind.unrecorded(method, frame);
    if (!this.congested) return this.#link.send(frame, true);
    const key = `${method} ${threadId}`;
    this.#dropNotice(key);
    this.#notices.set(key, notice);
    this.#bytes.notice += sizeOf(frame);
    if (this.#bytes.notice > NOTICE_BYTES) this.#onSlow();
  }

  thread(subscription: Subscription, { frame, before, delta, unrecorded }: Outgoing): void {
    if (!this.congested) return this.#link.send(frame);
    const last = this.#queue.at(-1);
    if (last?.kind === "thread" && last.subscription === subscription && sameStream(last.delta, delta)) {
      last.delta = { ...last.delta!, text: last.delta!.text + delta!.text };
      last.frame = undefined;
      last.size += delta!.text.length;
      this.#bytes.thread += delta!.text.length;
    } else {
      this.#push({ kind: "thread", subscription, before, frame, delta, unrecorded, size: sizeOf(frame) });
    }
    if (this.#bytes.thread > QUEUE_BYTES) this.#dropNotifications();
  }

  /** Called when the link has room again. */
  drained(): void {
    let sent = 0;
    while (sent < this.#queue.length && this.#link.backlog < LINK_BYTES) {
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
    this.undelivered.prune();
    if (!this.congested) for (const resolve of this.#waitingForRoom.splice(0)) resolve();
  }

  /**
   * Passes all queued frames to the link, whatever its backlog. The link is about to be closed, and writes everything
   * before.
   */
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

  /** Remembers a subscription that stopped catching up because the outbox was full. It resumes when there is room. */
  waitForRoom(subscription: Subscription): void {
    this.#lagging.add(subscription);
  }

  #sendNotices(): void {
    for (const [key, { frame }] of this.#notices) {
      if (this.#link.backlog >= LINK_BYTES) return;
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

  #encode(waiting: QueuedMessage): Frame {
    return waiting.kind === "reply"
      ? waiting.frame
      : new Frame(...deltaMessages(waiting.delta!, [waiting.delta!.text], this.#clock.now()));
  }

  #push(waiting: QueuedMessage): void {
    this.#queue.push(waiting);
    this.#bytes[waiting.kind] += waiting.size;
  }

  #dropNotifications(): void {
    const replies: QueuedMessage[] = [];
    for (const waiting of this.#queue) {
      if (waiting.kind === "reply") {
        replies.push(waiting);
      } else {
        const lagging = waiting.subscription.lag(waiting.before);
        this.#lagging.add(lagging);
        if (waiting.unrecorded !== undefined) lagging.unrecorded(waiting.unrecorded, waiting.frame!);
      }
    }
    this.#queue = replies;
    this.#bytes.thread = 0;
    // Notices about lagging threads must come after the replayed notifications.
    for (const [key, { threadId, method, frame }] of this.#notices) {
      const behind = this.undelivered.get(threadId);
      if (!behind?.lagging) continue;
      this.#dropNotice(key);
      behind.unrecorded(method, frame);
    }
  }
}

/** Counts characters instead of bytes, which is accurate enough for a limit and costs nothing. */
function sizeOf(frame: Frame): number {
  let size = 0;
  for (const message of frame.messages) size += message.length;
  return size;
}

/** Whether two adjacent deltas of one text can be merged. */
function sameStream(one: TextDelta | undefined, other: TextDelta | undefined): boolean {
  return one !== undefined && one.stream === other?.stream;
}
