import { Transform, type TransformCallback } from "node:stream";

/**
 * Passes bytes on until an end marker appears in them, removes the marker and emits `marked`. The marker may be split
 * across chunks.
 */
export class EndMarkerStream extends Transform {
  readonly mark: string;
  readonly #mark: Buffer;
  /** The last bytes received, if they may be the beginning of the marker. */
  #pending: Buffer = Buffer.alloc(0);

  constructor(mark: string) {
    super({ highWaterMark: 64 * 1024 });
    this.mark = mark;
    this.#mark = Buffer.from(mark);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const at = bytes.indexOf(this.#mark);
    if (at >= 0) {
      this.#pending = Buffer.alloc(0);
      if (at > 0) this.push(bytes.subarray(0, at));
      done();
      this.emit("marked");
      return;
    }
    const keep = markerPrefixLength(bytes, this.#mark);
    this.#pending = bytes.subarray(bytes.length - keep);
    if (bytes.length > keep) this.push(bytes.subarray(0, bytes.length - keep));
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#pending.length > 0) this.push(this.#pending);
    this.#pending = Buffer.alloc(0);
    done();
  }
}

/** How many of the last bytes are a prefix of the marker. */
function markerPrefixLength(bytes: Buffer, mark: Buffer): number {
  for (let length = Math.min(mark.length - 1, bytes.length); length > 0; length--) {
    if (bytes.subarray(bytes.length - length).equals(mark.subarray(0, length))) return length;
  }
  return 0;
}
