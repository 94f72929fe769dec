import type { ByteStream } from "../../platform/platform.ts";

/** Reads the beginning of a stream by length or up to a delimiter; `rest` yields what follows. */
export class StreamReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #read: Buffer = Buffer.alloc(0);

  constructor({ input }: ByteStream) {
    this.#pieces = input[Symbol.asyncIterator]();
  }

  /** Reads exactly `count` bytes; null if the stream ends before. */
  async bytes(count: number): Promise<Buffer | null> {
    while (this.#read.length < count) if (!(await this.#more())) return null;
    return this.#take(count);
  }

  /** Returns the first byte without consuming it; null if there is none. */
  async peek(): Promise<number | null> {
    while (this.#read.length === 0) if (!(await this.#more())) return null;
    return this.#read[0]!;
  }

  /** Reads up to a delimiter, and consumes both; null if the delimiter does not come within `max` bytes. */
  async until(delimiter: string, max: number): Promise<string | null> {
    for (;;) {
      const at = this.#read.indexOf(delimiter);
      if (at >= 0) {
        const found = this.#take(at).toString("latin1");
        this.#take(delimiter.length);
        return at > max ? null : found;
      }
      if (this.#read.length > max || !(await this.#more())) return null;
    }
  }

  async *rest(): AsyncGenerator<Uint8Array> {
    if (this.#read.length > 0) yield this.#take(this.#read.length);
    for (;;) {
      const next = await this.#pieces.next();
      if (next.done) return;
      yield next.value;
    }
  }

  async #more(): Promise<boolean> {
    const next = await this.#pieces.next();
    if (next.done) return false;
    this.#read = Buffer.concat([this.#read, next.value]);
    return true;
  }

  #take(count: number): Buffer {
    const taken = this.#read.subarray(0, count);
    this.#read = this.#read.subarray(count);
    return taken;
  }
}
