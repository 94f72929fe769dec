/** A text that grows without bound, of which the beginning and the end are kept. */
export class BoundedText {
  readonly #max: number;
  #head = "";
  #tail = "";
  #length = 0;

  /** `max`: how many characters of each end are kept. */
  constructor(max: number) {
    this.#max = max;
  }

  /** How long it is in all. */
  get length(): number {
    return this.#length;
  }

  add(text: string): void {
    this.#length += text.length;
    const room = this.#max - this.#head.length;
    if (room > 0) this.#head += text.slice(0, room);
    this.#tail += text.slice(Math.max(0, room));
    // Twice as much may be there, so that not every piece is a copy of all of it.
    if (this.#tail.length > 2 * this.#max) this.#tail = this.#tail.slice(-this.#max);
  }

  /** What is kept of it, with a line that says how much is missing. */
  toString(): string {
    const tail = this.#tail.slice(-this.#max);
    const missing = this.#length - this.#head.length - tail.length;
    return missing === 0
      ? this.#head + tail
      : `${this.#head}\n… ${missing} characters are not kept …\n${tail}`;
  }

  /** What is kept of it; it is empty afterwards. */
  take(): string {
    const text = this.toString();
    this.#head = "";
    this.#tail = "";
    this.#length = 0;
    return text;
  }
}
