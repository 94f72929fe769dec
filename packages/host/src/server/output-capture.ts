/** Limit on the buffered bytes of one output, so that both outputs of a program fit into one message. */
const MAX_BUFFERED = 5 * 1024 * 1024;
/** Limit on the bytes that are buffered for all programs. */
const MAX_BUFFERED_TOGETHER = 64 * 1024 * 1024;

export interface CapturedOutput {
  readonly text: string;
  readonly capReached: boolean;
}

/** Counts the bytes of output that are buffered for running programs. */
export class BufferedBytes {
  #bytes = 0;

  get left(): number {
    return MAX_BUFFERED_TOGETHER - this.#bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }
}

/** One output of a program, cut after `cap` bytes. */
export class CappedOutput {
  readonly #cap: number;
  readonly #buffered: BufferedBytes | undefined;
  readonly #pieces: Uint8Array[] = [];
  #taken = 0;
  capReached = false;

  /**
   * `buffered`: counts the buffered bytes, if the output is buffered until the program ends; undefined if it is streamed.
   */
  constructor(cap: number | undefined, buffered: BufferedBytes | undefined) {
    this.#cap = Math.min(
      cap ?? Number.POSITIVE_INFINITY,
      buffered === undefined ? Number.POSITIVE_INFINITY : MAX_BUFFERED,
    );
    this.#buffered = buffered;
  }

  /** The part of the bytes within the limit; undefined once the limit is reached. */
  take(bytes: Uint8Array): Uint8Array | undefined {
    if (this.capReached) return undefined;
    const room = Math.min(this.#cap - this.#taken, this.#buffered?.left ?? Number.POSITIVE_INFINITY);
    const taken = bytes.subarray(0, room);
    this.#taken += taken.length;
    this.capReached = taken.length === room;
    if (this.#buffered !== undefined) {
      this.#buffered.add(taken.length);
      this.#pieces.push(taken);
    }
    return taken;
  }

  /** Returns the buffered output, and releases its memory. */
  captured(): CapturedOutput {
    const text = Buffer.concat(this.#pieces).toString();
    if (this.#buffered !== undefined) this.#buffered.add(-this.#taken);
    this.#pieces.length = 0;
    return { text, capReached: this.capReached };
  }
}
