import type { Frame } from "./frame.ts";
import { type CloseReason, type Link, type LinkEvents, MAX_MESSAGE_BYTES } from "./link.ts";

export interface PairOptions {
  /** When the next delivery happens; a simulation hands in its scheduler. */
  readonly schedule?: (task: () => void) => void;
  /** For the grace of `close`. */
  readonly after?: (ms: number, task: () => void) => void;
}

/** Two ends of one wire inside this process: what one sends the other gets, in order and never in the same call. */
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
  /** Messages on their way to this end. */
  readonly #inbox: { text: string; bytes: number }[] = [];
  #inboxBytes = 0;
  #delivering = false;
  #paused = false;
  /** `closing`: one of the two ends wants no more; what was sent before still arrives. */
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

  /** Who is told what arrives at this end; until then it waits. */
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
      // This end reads no more; the other one still gets what was sent to it.
      this.#state = "closing";
      this.#other.#state = "closing";
      this.#drop();
      this.#other.#deliverSoon();
    }
    if (graceMs !== undefined && this.#state === "closing") this.#after(graceMs, () => this.cut());
    return this.#isGone;
  }

  /** The wire breaks: what is on its way is lost, and both ends are told. */
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

  /** One message a task, so that a scheduler can put anything in between. */
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
