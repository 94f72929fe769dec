/** Limit on the size of a server's message, in bytes. An image or a long file fits. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Splits the output of a server into lines. */
export class MessageLines {
  readonly #maxBytes: number;
  #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes = MAX_MESSAGE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The lines that are complete with this piece of output, without line ends. Throws a `RangeError` if a line is too
   * long.
   */
  *take(piece: Uint8Array): Iterable<Uint8Array> {
    let rest = piece;
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      this.#add(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
      yield this.#line();
    }
    // A copy, because the reader may reuse the memory of the piece.
    if (rest.length > 0) this.#add(rest.slice());
  }

  #add(piece: Uint8Array): void {
    this.#length += piece.length;
    if (this.#length > this.#maxBytes)
      throw new RangeError(`a message has more than ${this.#maxBytes} bytes`);
    this.#pieces.push(piece);
  }

  #line(): Uint8Array {
    const line = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces, this.#length);
    this.#pieces = [];
    this.#length = 0;
    return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
  }
}
