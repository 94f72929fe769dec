import { createParser } from "eventsource-parser";

/** No single event is larger; a server that sends one is broken, and must not take our memory. */
const MAX_EVENT_CHARACTERS = 64 * 1024 * 1024;

/** Bytes in, the events' data out, however the bytes are cut. */
export class SseReader {
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({ onEvent: ({ data }) => void this.#events.push(data) });
  #events: string[] = [];
  #waiting = 0;

  push(bytes: Uint8Array): readonly string[] {
    const text = this.#decoder.decode(bytes, { stream: true });
    const events = this.#feed(text);
    this.#waiting = events.length > 0 ? 0 : this.#waiting + text.length;
    if (this.#waiting > MAX_EVENT_CHARACTERS) throw new Error("an event is too large");
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
