import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineSplitter } from "./line-splitter.ts";

type SplitEvent = string | { oversized: number } | "undecodable!";

function split(chunks: Iterable<Uint8Array>, limit?: number): SplitEvent[] {
  const events: SplitEvent[] = [];
  const lines = new LineSplitter(
    {
      line: (text) => events.push(text),
      oversized: (bytes) => events.push({ oversized: bytes }),
      undecodable: () => events.push("undecodable!"),
    },
    limit,
  );
  for (const chunk of chunks) lines.push(chunk);
  lines.end();
  return events;
}

const bytes = (text: string): Buffer => Buffer.from(text);

describe("LineSplitter", () => {
  it("gives the lines of one chunk in order", () => {
    expect(split([bytes("one\ntwo\nthree\n")])).toEqual(["one", "two", "three"]);
  });

  it("joins a line that arrives in chunks, also within a character", () => {
    const whole = bytes("äöü€😀\nnext\n");
    expect(split(Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual(["äöü€😀", "next"]);
  });

  it("splits at LF only", () => {
    const line = '{"a":"\u2028\u2029\u0085\v\f","b":"x\ry"}';
    expect(split([bytes(`${line}\n`)])).toEqual([line]);
  });

  it("tolerates a BOM in front of the stream and one CR before an LF", () => {
    expect(split([bytes("\ufeffone\r\ntwo\r\r\n\ufeffthree\n")])).toEqual(["one", "two\r", "\ufeffthree"]);
    expect(split([bytes("\ufeff\r\none\n")])).toEqual(["one"]);
  });

  it("ignores empty lines", () => {
    expect(split([bytes("\n\r\n\n"), bytes("one\n"), bytes("\n")])).toEqual(["one"]);
  });

  it("treats the rest at the end as a line", () => {
    expect(split([bytes("one\ntwo")])).toEqual(["one", "two"]);
    expect(split([bytes("one\n\r")])).toEqual(["one"]);
  });

  it("reports bytes that are not UTF-8 and continues", () => {
    const bad = Buffer.from([0x22, 0xc3, 0x28, 0x22, 0x0a]);
    const surrogate = Buffer.from([0xed, 0xa0, 0x80, 0x0a]);
    expect(split([bad, surrogate, bytes("good\n")])).toEqual(["undecodable!", "undecodable!", "good"]);
  });

  it("accepts a line of exactly the limit, BOM and CR not counted, and skips a longer one", () => {
    for (const size of [1, 3, 100]) {
      const chunks = (text: string) => {
        const all = bytes(text);
        return Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
          all.subarray(at * size, (at + 1) * size),
        );
      };
      expect(split(chunks("\ufeff12345678\r\nab\n"), 8)).toEqual(["12345678", "ab"]);
      expect(split(chunks("123456789\nab\n"), 8)).toEqual([{ oversized: 9 }, "ab"]);
      expect(split(chunks(`${"x".repeat(50)}\nab\n`), 8)).toEqual([{ oversized: 50 }, "ab"]);
      expect(split(chunks("x".repeat(50)), 8)).toEqual([{ oversized: 50 }]);
    }
  });

  it("reads a line of 64 MiB in chunks in about the time that copying it takes", () => {
    const limit = 64 * 1024 * 1024;
    const chunk = Buffer.alloc(64 * 1024, "x");
    const started = process.cpuUsage();
    function* stream(): Generator<Uint8Array> {
      for (let sent = 0; sent < limit; sent += chunk.length) yield chunk;
      yield bytes("\nnext\n");
    }
    const lines = split(stream());
    expect(lines.map((line) => (typeof line === "string" ? line.length : line))).toEqual([limit, 4]);
    // Copying the whole line for each chunk would move 32 GiB.
    expect(process.cpuUsage(started).user).toBeLessThan(5_000_000);
  });

  it("skips a line far over the limit without buffering it", () => {
    const chunk = Buffer.alloc(1024 * 1024, "x");
    const before = process.memoryUsage().arrayBuffers;
    let peak = 0;
    function* stream(): Generator<Uint8Array> {
      for (let sent = 0; sent < 500; sent++) {
        yield chunk;
        peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
      }
      yield bytes("\nnext\n");
    }
    expect(split(stream(), 1024 * 1024)).toEqual([{ oversized: 500 * chunk.length }, "next"]);
    expect(peak).toBeLessThan(8 * 1024 * 1024);
  });

  it("gives the same lines however the bytes are split into chunks", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary", maxLength: 12 }).map(bytes),
      fc.uint8Array({ maxLength: 6 }).map((array) => Buffer.from(array)),
      fc.constantFrom("\n", "\r\n", "\r", "\ufeff", "\u2028", "", "x".repeat(40)).map(bytes),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }),
        fc.array(fc.nat(400)),
        fc.nat(40),
        (pieces, cuts, limit) => {
          const all = Buffer.concat(pieces);
          const edges = [
            0,
            ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b),
            all.length,
          ];
          const chunks = edges.slice(1).map((edge, at) => all.subarray(edges[at], edge));
          expect(split(chunks, limit + 1)).toEqual(split([all], limit + 1));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("agrees with splitting the text at LF", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" })), (texts) => {
        const clean = texts.map((text) => text.replace(/[\n\ufeff]/g, "").replace(/\r+$/, ""));
        expect(split([bytes(clean.map((text) => `${text}\n`).join(""))])).toEqual(
          clean.filter((text) => text !== ""),
        );
      }),
    );
  });
});
