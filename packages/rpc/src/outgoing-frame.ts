/**
 * The messages of one write: a single message, or all messages of one event-loop tick. WebSocket frames are encoded on
 * first use and then shared by all connections.
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

  /** For JSONL connections (stdio): each text with an LF. Not cached, because it is used only once. */
  get lines(): string {
    return this.messages.length === 1 ? `${this.messages[0]}\n` : `${this.messages.join("\n")}\n`;
  }

  /** For WebSocket connections: unmasked, final text frames, headers and payloads in one buffer. */
  get websocket(): Uint8Array {
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
