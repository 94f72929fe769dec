/** Collects a text of any length and keeps only its beginning and its end in memory. */
export class BoundedText {
  readonly #max: number;
  #head = "";
  #tail = "";
  #length = 0;

  /** `max`: the number of characters to keep at each end. */
  constructor(max: number) {
    this.#max = max;
  }

  /** The total length of the added text, including the dropped middle. */
  get length(): number {
    return this.#length;
  }

  add(text: string): void {
    this.#length += text.length;
    const room = this.#max - this.#head.length;
    if (room > 0) this.#head += text.slice(0, room);
    this.#tail += text.slice(Math.max(0, room));
    // The tail is cut only when it has twice its size, so that not every addition copies it.
    if (this.#tail.length > 2 * this.#max) this.#tail = this.#tail.slice(-this.#max);
  }

  /** The beginning and the end. A line between them says how many characters are missing. */
  toString(): string {
    const tail = this.#tail.slice(-this.#max);
    const missing = this.#length - this.#head.length - tail.length;
    return missing === 0
      ? this.#head + tail
      : `${this.#head}\n… ${missing} characters are not kept …\n${tail}`;
  }

  /** Returns the text like `toString`, and empties it. */
  take(): string {
    const text = this.toString();
    this.#head = "";
    this.#tail = "";
    this.#length = 0;
    return text;
  }
}
