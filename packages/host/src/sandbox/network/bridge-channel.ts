import type { ByteStream } from "../../platform/platform.ts";
import { FRAME, HEAD_BYTES, MAX_CONNECTIONS, MAX_DATA, WINDOW } from "./bridge-protocol.ts";

/**
 * Reads the host's end of the channel to a bridge, and passes each opened connection to `take`. Anything inside the
 * sandbox may write to the channel; data with an invalid frame format ends the channel. Resolves when the channel has
 * ended.
 */
export async function readBridge(channel: ByteStream, take: (connection: ByteStream) => void): Promise<void> {
  const connections = new Map<number, BridgeConnection>();
  const send = (kind: number, id: number, amount: number, bytes?: Uint8Array): Promise<void> =>
    channel.write(encode(kind, id, amount, bytes));
  const forget = (id: number): void => void connections.delete(id);
  let last = 0;

  const receive = (kind: number, id: number, amount: number, bytes: Uint8Array): void => {
    if (kind === FRAME.OPEN) {
      if (id <= last) throw new Error("a connection was opened twice");
      last = id;
      if (connections.size >= MAX_CONNECTIONS) return void send(FRAME.RESET, id, 0).catch(() => {});
      const connection = new BridgeConnection(id, send, forget);
      connections.set(id, connection);
      return take(connection);
    }
    // The connection was closed here while the frame was on its way.
    const connection = connections.get(id);
    if (connection === undefined) return;
    switch (kind) {
      case FRAME.DATA:
        return connection.received(bytes);
      case FRAME.END:
        return connection.ended();
      case FRAME.RESET:
        return connection.broken(new Error("the program has closed the connection"));
      case FRAME.CREDIT:
        return connection.credited(amount);
      default:
        throw new Error(`there is no frame ${kind}`);
    }
  };

  try {
    let rest: Buffer = Buffer.alloc(0);
    for await (const piece of channel.input) {
      rest = rest.length === 0 ? Buffer.from(piece) : Buffer.concat([rest, piece]);
      while (rest.length >= HEAD_BYTES) {
        const kind = rest[0]!;
        const amount = rest.readUInt32BE(5);
        const length = kind === FRAME.DATA ? amount : 0;
        if (length > MAX_DATA) throw new Error("a frame is too long");
        if (rest.length < HEAD_BYTES + length) break;
        receive(
          kind,
          rest.readUInt32BE(1),
          amount,
          Uint8Array.from(rest.subarray(HEAD_BYTES, HEAD_BYTES + length)),
        );
        rest = rest.subarray(HEAD_BYTES + length);
      }
    }
  } finally {
    for (const connection of connections.values()) connection.broken(new Error("the command has ended"));
    channel.destroy();
  }
}

type Send = (kind: number, id: number, amount: number, bytes?: Uint8Array) => Promise<void>;

/** One connection of a program, as a stream on the host's side. */
class BridgeConnection implements ByteStream {
  readonly input: AsyncIterable<Uint8Array>;
  readonly #id: number;
  readonly #send: Send;
  readonly #forget: (id: number) => void;
  readonly #received: Uint8Array[] = [];
  /** Bytes that were received and not read yet. */
  #unread = 0;
  #credit = WINDOW;
  #inputEnded = false;
  #outputEnded = false;
  #broken: Error | undefined;
  #wake: () => void = () => {};
  #changed = this.#change();

  constructor(id: number, send: Send, forget: (id: number) => void) {
    this.#id = id;
    this.#send = send;
    this.#forget = forget;
    this.input = this.#pieces();
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      while (this.#credit === 0 && this.#broken === undefined) await this.#changed;
      if (this.#broken !== undefined) throw this.#broken;
      const piece = bytes.subarray(at, at + Math.min(this.#credit, MAX_DATA));
      this.#credit -= piece.length;
      at += piece.length;
      await this.#send(FRAME.DATA, this.#id, piece.length, piece);
    }
  }

  end(): void {
    if (this.#outputEnded || this.#broken !== undefined) return;
    this.#outputEnded = true;
    this.#sendFrame(FRAME.END);
    this.#forgetIfEnded();
  }

  destroy(): void {
    if (this.#broken !== undefined) return;
    if (!(this.#inputEnded && this.#outputEnded)) this.#sendFrame(FRAME.RESET);
    this.broken(new Error("the connection was dropped"));
  }

  received(bytes: Uint8Array): void {
    this.#unread += bytes.length;
    if (this.#unread > WINDOW || this.#inputEnded) throw new Error("more was sent than was asked for");
    this.#received.push(bytes);
    this.#notify();
  }

  ended(): void {
    this.#inputEnded = true;
    this.#notify();
    this.#forgetIfEnded();
  }

  broken(cause: Error): void {
    this.#broken ??= cause;
    this.#forget(this.#id);
    this.#notify();
  }

  credited(amount: number): void {
    this.#credit = Math.min(WINDOW, this.#credit + amount);
    this.#notify();
  }

  async *#pieces(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = this.#received.shift();
      if (piece !== undefined) {
        this.#unread -= piece.length;
        yield piece;
        // Credit is returned when the next piece is requested, because only then this piece is processed.
        if (this.#broken === undefined) this.#sendFrame(FRAME.CREDIT, piece.length);
      } else if (this.#broken !== undefined) throw this.#broken;
      else if (this.#inputEnded) return;
      else await this.#changed;
    }
  }

  /** Removes the connection when both directions have ended. */
  #forgetIfEnded(): void {
    if (this.#inputEnded && this.#outputEnded) this.#forget(this.#id);
  }

  #sendFrame(kind: number, amount = 0): void {
    this.#send(kind, this.#id, amount).catch((cause) => this.broken(cause as Error));
  }

  #notify(): void {
    const wake = this.#wake;
    this.#changed = this.#change();
    wake();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

function encode(kind: number, id: number, amount: number, bytes: Uint8Array = new Uint8Array(0)): Uint8Array {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + bytes.length);
  frame[0] = kind;
  frame.writeUInt32BE(id, 1);
  frame.writeUInt32BE(amount, 5);
  frame.set(bytes, HEAD_BYTES);
  return frame;
}
