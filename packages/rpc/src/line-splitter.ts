import { MAX_MESSAGE_BYTES } from "./link.ts";

export interface LineEvents {
  /** One whole line, without its LF and without one CR before it. Never empty. */
  line(text: string): void;
  /** Called when a line over the limit was skipped. `bytes`: its length, including a CR. */
  oversized(bytes: number): void;
  /** Called for a line whose bytes are not UTF-8. */
  undecodable(): void;
}

const LF = 0x0a;
const CR = 0x0d;
const BOM = [0xef, 0xbb, 0xbf] as const;
/** Number of bytes that a line may have beyond the limit: a BOM before it and a CR after it do not count. */
const SLACK = BOM.length + 1;
/** A buffer up to this size is reused for the next line that arrives in several chunks. */
const MAX_REUSED_BYTES = 64 * 1024;

/**
 * Splits a byte stream into lines at LF only. Other line breaks (a lone CR, U+2028) may occur in JSON strings, and do
 * not end a line.
 */
export class LineSplitter {
  readonly #events: LineEvents;
  readonly #limit: number;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** The start of a line whose LF has not arrived, in the first `#bufferedBytes` bytes. */
  #buffer = new Uint8Array(0);
  #bufferedBytes = 0;
  /** Length so far of an overlong line, whose bytes are dropped. Zero if no line is being skipped. */
  #skipped = 0;
  #atStart = true;

  constructor(events: LineEvents, limit: number = MAX_MESSAGE_BYTES) {
    this.#events = events;
    this.#limit = limit;
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LF, start);
      if (end === -1) break;
      if (this.#bufferedBytes === 0 && this.#skipped === 0) this.#finish(chunk.subarray(start, end));
      else {
        this.#append(chunk.subarray(start, end));
        this.#finishBuffered();
      }
      start = end + 1;
    }
    if (start < chunk.length) this.#append(chunk.subarray(start));
  }

  /** Call at the end of the stream. Bytes after the last LF count as a line. */
  end(): void {
    if (this.#bufferedBytes > 0 || this.#skipped > 0) this.#finishBuffered();
  }

  #append(bytes: Uint8Array): void {
    if (this.#skipped > 0) {
      this.#skipped += bytes.length;
      return;
    }
    const needed = this.#bufferedBytes + bytes.length;
    if (needed > this.#limit + SLACK) {
      this.#skipped = needed;
      this.#bufferedBytes = 0;
      this.#buffer = new Uint8Array(0);
      return;
    }
    if (needed > this.#buffer.length) {
      // Doubles the buffer, so that copying stays linear in the length of the line.
      const grown = new Uint8Array(Math.min(Math.max(needed, this.#buffer.length * 2), this.#limit + SLACK));
      grown.set(this.#buffer.subarray(0, this.#bufferedBytes));
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.#bufferedBytes);
    this.#bufferedBytes = needed;
  }

  #finishBuffered(): void {
    const length = this.#bufferedBytes;
    const buffer = this.#buffer;
    this.#bufferedBytes = 0;
    if (buffer.length > MAX_REUSED_BYTES) this.#buffer = new Uint8Array(0);
    if (this.#skipped > 0) {
      const bytes = this.#skipped;
      this.#skipped = 0;
      this.#atStart = false;
      this.#events.oversized(bytes);
    } else this.#finish(buffer.subarray(0, length));
  }

  #finish(bytes: Uint8Array): void {
    let line = bytes;
    if (this.#atStart) {
      this.#atStart = false;
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
