import { createParser } from "eventsource-parser";

/** Parses server-sent events: takes bytes in chunks of any size, and returns the data of the completed events. */
export class SseReader {
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({ onEvent: ({ data }) => void this.#events.push(data) });
  readonly #maxCharacters: number;
  readonly #tooLarge: () => Error;
  #events: string[] = [];
  #waiting = 0;

  /**
   * If a single event has more than `maxCharacters`, the error of `tooLarge` is thrown, so that an event cannot fill
   * the memory.
   */
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

  /** Ends the stream. Returns the last event even if its final empty line is missing. */
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
