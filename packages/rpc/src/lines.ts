import { MAX_MESSAGE_BYTES } from "./link.ts";

export interface LineEvents {
  /** One whole line, without its LF and without one CR before it. Never empty. */
  line(text: string): void;
  /** A line over the limit was skipped up to its LF; `bytes` is how long it was, CR included. */
  oversized(bytes: number): void;
  /** A line whose bytes are not UTF-8. */
  undecodable(): void;
}

const LF = 0x0a;
const CR = 0x0d;
const BOM = [0xef, 0xbb, 0xbf] as const;
/** What a line may have beyond the limit before it is known to be too long: a BOM in front and a CR behind. */
const SLACK = BOM.length + 1;
/** A buffer of up to this size is kept for the next line that comes in pieces. */
const KEEP_BYTES = 64 * 1024;

/**
 * Cuts a byte stream into lines at LF and nothing else: what counts as a line break in text (a lone CR,
 * U+2028) is data in JSON strings.
 */
export class LineSplitter {
  readonly #events: LineEvents;
  readonly #limit: number;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** The start of a line whose LF has not come: the first `#held` bytes. */
  #buffer = new Uint8Array(0);
  #held = 0;
  /** Bytes of a line that is too long, of which nothing is kept; zero when none is being skipped. */
  #skipped = 0;
  #first = true;

  constructor(events: LineEvents, limit: number = MAX_MESSAGE_BYTES) {
    this.#events = events;
    this.#limit = limit;
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LF, start);
      if (end === -1) break;
      if (this.#held === 0 && this.#skipped === 0) this.#finish(chunk.subarray(start, end));
      else {
        this.#hold(chunk.subarray(start, end));
        this.#finishHeld();
      }
      start = end + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  /** The stream ended: what came after the last LF is a line too. */
  end(): void {
    if (this.#held > 0 || this.#skipped > 0) this.#finishHeld();
  }

  #hold(bytes: Uint8Array): void {
    if (this.#skipped > 0) {
      this.#skipped += bytes.length;
      return;
    }
    const needed = this.#held + bytes.length;
    if (needed > this.#limit + SLACK) {
      this.#skipped = needed;
      this.#held = 0;
      this.#buffer = new Uint8Array(0);
      return;
    }
    if (needed > this.#buffer.length) {
      // Doubling keeps the copying linear in the line's length, in however many pieces it comes.
      const grown = new Uint8Array(Math.min(Math.max(needed, this.#buffer.length * 2), this.#limit + SLACK));
      grown.set(this.#buffer.subarray(0, this.#held));
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.#held);
    this.#held = needed;
  }

  #finishHeld(): void {
    const length = this.#held;
    const buffer = this.#buffer;
    this.#held = 0;
    if (buffer.length > KEEP_BYTES) this.#buffer = new Uint8Array(0);
    if (this.#skipped > 0) {
      const bytes = this.#skipped;
      this.#skipped = 0;
      this.#first = false;
      this.#events.oversized(bytes);
    } else this.#finish(buffer.subarray(0, length));
  }

  #finish(bytes: Uint8Array): void {
    let line = bytes;
    if (this.#first) {
      this.#first = false;
      if (BOM.every((byte, at) => line[at] === byte)) line = line.subarray(BOM.length);
    }
    if (line[line.length - 1] === CR) line = line.subarray(0, -1);
    if (line.length === 0) return;
    if (line.length > this.#limit) {
      this.#events.oversized(bytes.length);
      return;
    }
    let text: string;
    try {
      text = this.#decoder.decode(line);
    } catch {
      this.#events.undecodable();
      return;
    }
    this.#events.line(text);
  }
}
