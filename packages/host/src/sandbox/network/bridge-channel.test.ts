import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../../../test/support/long-form.ts";
import type { ByteStream } from "../../platform/platform.ts";
import { readBridge } from "./bridge-channel.ts";
import { FRAME, HEAD_BYTES, MAX_CONNECTIONS, MAX_DATA, WINDOW } from "./bridge-protocol.ts";

function frame(kind: number, id: number, amount: number, bytes: Uint8Array = new Uint8Array(0)): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head[0] = kind;
  head.writeUInt32BE(id, 1);
  head.writeUInt32BE(amount, 5);
  return Buffer.concat([head, bytes]);
}

const data = (id: number, bytes: number): Buffer => frame(FRAME.DATA, id, bytes, Buffer.alloc(bytes, "x"));

/** A channel whose other end the test controls. */
class TestChannel implements ByteStream {
  readonly written: Uint8Array[] = [];
  isDestroyed = false;
  readonly #pieces: Uint8Array[] = [];
  #ended = false;
  #wake: () => void = () => {};
  readonly input = this.#read();

  send(...pieces: readonly Uint8Array[]): void {
    this.#pieces.push(...pieces);
    this.#wake();
  }

  finish(): void {
    this.#ended = true;
    this.#wake();
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.written.push(bytes);
  }

  end(): void {}

  destroy(): void {
    this.isDestroyed = true;
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = this.#pieces.shift();
      if (piece !== undefined) yield piece;
      else if (this.#ended) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

const settled = () => new Promise((done) => setImmediate(done));

describe("the channel to a bridge", () => {
  it.each([
    ["a frame of an unknown kind", [frame(FRAME.OPEN, 1, 0), frame(9, 1, 0)]],
    ["a frame that is too long", [frame(FRAME.OPEN, 1, 0), frame(FRAME.DATA, 1, MAX_DATA + 1)]],
    ["a connection that is opened twice", [frame(FRAME.OPEN, 2, 0), frame(FRAME.OPEN, 2, 0)]],
    [
      "more bytes than were asked for",
      [frame(FRAME.OPEN, 1, 0), ...Array.from({ length: 1 + WINDOW / MAX_DATA }, () => data(1, MAX_DATA))],
    ],
    ["bytes behind their end", [frame(FRAME.OPEN, 1, 0), frame(FRAME.END, 1, 0), data(1, 1)]],
  ])("ends with %s", async (_name, frames) => {
    const channel = new TestChannel();
    const read = readBridge(channel, () => {});
    channel.send(Buffer.concat(frames));
    await expect(read).rejects.toThrow();
    expect(channel.isDestroyed).toBe(true);
  });

  it("refuses connections beyond its bound, and keeps the others", async () => {
    const channel = new TestChannel();
    const taken: ByteStream[] = [];
    const read = readBridge(channel, (connection) => taken.push(connection));
    channel.send(...Array.from({ length: MAX_CONNECTIONS + 3 }, (_, nth) => frame(FRAME.OPEN, nth + 1, 0)));
    await settled();
    expect(taken).toHaveLength(MAX_CONNECTIONS);
    expect(channel.written.map(([kind]) => kind)).toEqual([FRAME.RESET, FRAME.RESET, FRAME.RESET]);
    taken[0]!.destroy();
    channel.send(frame(FRAME.OPEN, 1000, 0));
    await settled();
    expect(taken).toHaveLength(MAX_CONNECTIONS + 1);
    channel.finish();
    await read;
  });

  it("sends no more than the other side takes, and goes on when it has room", async () => {
    const channel = new TestChannel();
    let connection!: ByteStream;
    const read = readBridge(channel, (one) => {
      connection = one;
    });
    channel.send(frame(FRAME.OPEN, 1, 0));
    await settled();
    let isWritten = false;
    const written = connection.write(Buffer.alloc(2 * WINDOW)).then(() => {
      isWritten = true;
    });
    await settled();
    const sent = () => channel.written.reduce((sum, bytes) => sum + bytes.length - HEAD_BYTES, 0);
    expect([sent(), isWritten]).toEqual([WINDOW, false]);
    // Credit beyond what was used has no effect.
    channel.send(frame(FRAME.CREDIT, 1, 0xffffffff));
    await written;
    expect(sent()).toBe(2 * WINDOW);
    channel.finish();
    await read;
    await expect(connection.write(Buffer.alloc(WINDOW + 1))).rejects.toThrow("the command has ended");
  });

  it("gives back room for what was taken only", async () => {
    const channel = new TestChannel();
    let connection!: ByteStream;
    const read = readBridge(channel, (one) => {
      connection = one;
    });
    channel.send(frame(FRAME.OPEN, 1, 0), data(1, 10), data(1, 20), frame(FRAME.END, 1, 0));
    await settled();
    expect(channel.written).toEqual([]);
    let bytes = 0;
    for await (const piece of connection.input) bytes += piece.length;
    expect(bytes).toBe(30);
    expect(channel.written.map((one) => Buffer.from(one).readUInt32BE(5))).toEqual([10, 20]);
    channel.finish();
    await read;
  });

  it("takes any bytes in any pieces without growing, and ends", async () => {
    const frames = fc.array(
      fc.oneof(
        fc.record({
          kind: fc.integer({ min: 0, max: 6 }),
          id: fc.integer({ min: 0, max: 5 }),
          amount: fc.nat(300),
        }),
        fc.uint8Array({ maxLength: 40 }),
      ),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(frames, fc.integer({ min: 1, max: 64 }), async (given, size) => {
        const channel = new TestChannel();
        let held = 0;
        const read = readBridge(channel, () => {
          held++;
        }).catch(() => {});
        const all = Buffer.concat(
          given.map((one) =>
            one instanceof Uint8Array
              ? one
              : frame(one.kind, one.id, one.amount, Buffer.alloc(one.kind === FRAME.DATA ? one.amount : 0)),
          ),
        );
        for (let at = 0; at < all.length; at += size) channel.send(all.subarray(at, at + size));
        channel.finish();
        await read;
        expect(channel.isDestroyed).toBe(true);
        expect(held).toBeLessThanOrEqual(given.length);
      }),
      { numRuns: times(100, 1000) },
    );
  });
});
