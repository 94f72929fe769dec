/**
 * One outgoing message, encoded at most once however many connections it goes to: the JSON text is made by
 * whoever creates the frame, and each wire form (a line, a WebSocket text frame) when it is first asked for.
 */
export class Frame {
  readonly json: string;
  #line: Buffer | undefined;
  #websocket: Buffer | undefined;

  constructor(json: string) {
    this.json = json;
  }

  static of(message: object): Frame {
    return new Frame(JSON.stringify(message));
  }

  /** For JSONL wires: the text and its LF. */
  get line(): Buffer {
    this.#line ??= Buffer.from(`${this.json}\n`);
    return this.#line;
  }

  /** For WebSocket wires: an unmasked, final text frame, header and payload in one buffer. */
  get websocket(): Buffer {
    this.#websocket ??= textFrame(this.json);
    return this.#websocket;
  }
}

function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const buffer = Buffer.allocUnsafe(head + length);
  buffer[0] = 0x81;
  if (head === 2) buffer[1] = length;
  else if (head === 4) {
    buffer[1] = 126;
    buffer.writeUInt16BE(length, 2);
  } else {
    buffer[1] = 127;
    buffer.writeUInt32BE(Math.floor(length / 2 ** 32), 2);
    buffer.writeUInt32BE(length >>> 0, 6);
  }
  buffer.write(text, head);
  return buffer;
}
