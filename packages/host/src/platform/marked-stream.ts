import { Transform, type TransformCallback } from "node:stream";

/** Passes bytes on until a mark comes, which is taken out, and emits `marked`. The mark may be split over pieces. */
export class MarkedStream extends Transform {
  readonly mark: string;
  readonly #mark: Buffer;
  /** Bytes that may be the beginning of the mark. */
  #held: Buffer = Buffer.alloc(0);

  constructor(mark: string) {
    super({ highWaterMark: 64 * 1024 });
    this.mark = mark;
    this.#mark = Buffer.from(mark);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const at = bytes.indexOf(this.#mark);
    if (at >= 0) {
      this.#held = Buffer.alloc(0);
      if (at > 0) this.push(bytes.subarray(0, at));
      done();
      this.emit("marked");
      return;
    }
    const keep = beginningAtEnd(bytes, this.#mark);
    this.#held = bytes.subarray(bytes.length - keep);
    if (bytes.length > keep) this.push(bytes.subarray(0, bytes.length - keep));
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#held.length > 0) this.push(this.#held);
    this.#held = Buffer.alloc(0);
    done();
  }
}

/** How many of the last bytes are the first ones of the mark. */
function beginningAtEnd(bytes: Buffer, mark: Buffer): number {
  for (let length = Math.min(mark.length - 1, bytes.length); length > 0; length--) {
    if (bytes.subarray(bytes.length - length).equals(mark.subarray(0, length))) return length;
  }
  return 0;
}
