import { createParser } from "eventsource-parser";

/** Bytes in, the events' data out, however the bytes are cut. */
export class SseReader {
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({ onEvent: ({ data }) => void this.#events.push(data) });
  readonly #maxCharacters: number;
  readonly #tooLarge: () => Error;
  #events: string[] = [];
  #waiting = 0;

  /** A single event of more than `maxCharacters` throws what `tooLarge` makes: it must not fill the memory. */
  constructor(maxCharacters: number, tooLarge: () => Error) {
    this.#maxCharacters = maxCharacters;
    this.#tooLarge = tooLarge;
  }

  push(bytes: Uint8Array): readonly string[] {
    const text = this.#decoder.decode(bytes, { stream: true });
    const events = this.#feed(text);
    this.#waiting = events.length > 0 ? 0 : this.#waiting + text.length;
    if (this.#waiting > this.#maxCharacters) throw this.#tooLarge();
    return events;
  }

  /** At the end of the stream: what came last may lack its empty line. */
  end(): readonly string[] {
    return this.#feed(`${this.#decoder.decode()}\n\n`);
  }

  #feed(text: string): readonly string[] {
    this.#parser.feed(text);
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
