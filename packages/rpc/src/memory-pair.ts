import { type CloseReason, type Link, type LinkEvents, MAX_MESSAGE_BYTES } from "./link.ts";
import type { Frame } from "./outgoing-frame.ts";

export interface PairOptions {
  /** Schedules the next delivery. A simulation passes its scheduler; the default is `queueMicrotask`. */
  readonly schedule?: (task: () => void) => void;
  /** Timer for the `graceMs` of `close`. */
  readonly after?: (ms: number, task: () => void) => void;
}

/** Two connected links within this process. Each delivers, in order and asynchronously, what the other one sends. */
export function memoryPair(options: PairOptions = {}): [MemoryLink, MemoryLink] {
  const schedule = options.schedule ?? queueMicrotask;
  const after = options.after ?? ((ms, task) => void setTimeout(task, ms).unref());
  const a = new MemoryLink(schedule, after);
  const b = new MemoryLink(schedule, after);
  a.join(b);
  b.join(a);
  return [a, b];
}

export class MemoryLink implements Link {
  readonly #schedule: (task: () => void) => void;
  readonly #after: (ms: number, task: () => void) => void;
  #other!: MemoryLink;
  #events: LinkEvents | undefined;
  /** Messages that were sent to this end and are not delivered yet. */
  readonly #inbox: { text: string; bytes: number }[] = [];
  #inboxBytes = 0;
  #delivering = false;
  #paused = false;
  /** `closing`: one of the two ends was closed. Messages that were sent before are still delivered. */
  #state: "open" | "closing" | "closed" = "open";
  #gone!: () => void;
  readonly #isGone = new Promise<void>((resolve) => {
    this.#gone = resolve;
  });

  constructor(schedule: (task: () => void) => void, after: (ms: number, task: () => void) => void) {
    this.#schedule = schedule;
    this.#after = after;
  }

  join(other: MemoryLink): void {
    this.#other = other;
  }

  /** Sets the receiver of this end's events. Messages that arrive before are queued. */
  attach(events: LinkEvents): this {
    this.#events = events;
    if (this.#state === "closed") this.#schedule(() => events.closed());
    else this.#deliverSoon();
    return this;
  }

  get backlog(): number {
    return this.#state === "closed" ? 0 : this.#other.#inboxBytes;
  }

  send(frame: Frame): void {
    if (this.#state !== "open") return;
    for (const text of frame.messages) this.#other.#receive(text);
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#deliverSoon();
  }

  close(_reason: CloseReason = "normal", graceMs?: number): Promise<void> {
    if (this.#state === "open") {
      // This end drops its undelivered messages. The other end still gets the messages that were sent to it.
      this.#state = "closing";
      this.#other.#state = "closing";
      this.#drop();
      this.#other.#deliverSoon();
    }
    if (graceMs !== undefined && this.#state === "closing") this.#after(graceMs, () => this.cut());
    return this.#isGone;
  }

  /** Breaks the connection. Undelivered messages are lost, and both ends get `closed`. */
  cut(): void {
    for (const end of [this, this.#other]) {
      if (end.#state === "closed") continue;
      end.#state = "closed";
      end.#drop();
      end.#schedule(() => {
        end.#events?.closed();
        end.#gone();
      });
    }
  }

  #receive(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#inbox.push({ text, bytes });
    this.#inboxBytes += bytes;
    this.#deliverSoon();
  }

  #deliverSoon(): void {
    if (this.#delivering || this.#paused || !this.#events) return;
    this.#delivering = true;
    this.#schedule(() => {
      this.#delivering = false;
      this.#deliver();
    });
  }

  /** Delivers one message per task, so that a simulation's scheduler can interleave other tasks. */
  #deliver(): void {
    if (this.#state === "closed" || this.#paused) return;
    const next = this.#inbox.shift();
    if (next) {
      this.#inboxBytes -= next.bytes;
      if (next.bytes > MAX_MESSAGE_BYTES) this.#events?.oversized(next.bytes);
      else this.#events?.message(next.text);
      if (this.#inbox.length === 0) this.#other.#drained();
    }
    if (this.#inbox.length > 0) this.#deliverSoon();
    else if (this.#state === "closing" && this.#other.#inbox.length === 0) this.cut();
  }

  #drained(): void {
    if (this.#state === "open" && this.backlog === 0) this.#events?.drained();
  }

  #drop(): void {
    this.#inbox.length = 0;
    this.#inboxBytes = 0;
  }
}
