/**
 * What goes out in one write: one message, or all of one tick. Encoded at most once however many connections
 * it goes to: WebSocket text frames are made when they are first asked for, then shared.
 */
export class Frame {
  /** JSON texts, in order. */
  readonly messages: readonly string[];
  #websocket: Buffer | undefined;

  constructor(...messages: readonly string[]) {
    this.messages = messages;
  }

  static of(message: object): Frame {
    return new Frame(JSON.stringify(message));
  }

  /** For JSONL wires: each text and its LF. Not kept, because such a wire has one reader. */
  get lines(): string {
    return this.messages.length === 1 ? `${this.messages[0]}\n` : `${this.messages.join("\n")}\n`;
  }

  /** For WebSocket wires: unmasked, final text frames, headers and payloads in one buffer. */
  get websocket(): Buffer {
    this.#websocket ??= textFrames(this.messages);
    return this.#websocket;
  }
}

function textFrames(texts: readonly string[]): Buffer {
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const buffer = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + headBytes(length) + length, 0));
  let at = 0;
  texts.forEach((text, index) => {
    const length = lengths[index]!;
    const head = headBytes(length);
    buffer[at] = 0x81;
    if (head === 2) buffer[at + 1] = length;
    else if (head === 4) {
      buffer[at + 1] = 126;
      buffer.writeUInt16BE(length, at + 2);
    } else {
      buffer[at + 1] = 127;
      buffer.writeUInt32BE(Math.floor(length / 2 ** 32), at + 2);
      buffer.writeUInt32BE(length >>> 0, at + 6);
    }
    buffer.write(text, at + head);
    at += head + length;
  });
  return buffer;
}

function headBytes(length: number): number {
  return length < 126 ? 2 : length < 65_536 ? 4 : 10;
}
