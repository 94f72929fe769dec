import { describe, expect, it } from "vitest";
import { packedRollout, pagedRollout } from "../../../../../test/support/codex-rollouts.ts";
import type { ReadFile } from "../../platform/platform.ts";
import { MAX_LINE, sessionLines } from "./session-lines.ts";

/** A file with these bytes, which is closed once. */
function files(bytes: Uint8Array) {
  let open = 0;
  const file: ReadFile = {
    size: async () => bytes.length,
    read: async (at, length) => bytes.subarray(at, at + length),
    close: async () => void open--,
  };
  return {
    openRead: async (path: string) => {
      if (path.startsWith("/none")) return undefined;
      open++;
      return file;
    },
    isClosed: () => open === 0,
  };
}

async function read(bytes: Uint8Array | string, path = "/a.jsonl") {
  const given = files(Buffer.from(bytes));
  const lines: { text: string | undefined; end: number }[] = [];
  try {
    for await (const some of sessionLines(given, path)) lines.push(...some);
  } finally {
    expect(given.isClosed()).toBe(true);
  }
  return lines;
}

describe("the lines of a session", () => {
  it("are whole wherever pieces of the file end, and know where they end", async () => {
    const texts = Array.from({ length: 3000 }, (_, nth) => `${nth} ${"ü".repeat(nth % 97)}`);
    const lines = await read(texts.map((text) => `${text}\n`).join(""));
    expect(lines.map(({ text }) => text)).toEqual(texts);
    let end = 0;
    for (const { text, end: said } of lines) {
      end += Buffer.byteLength(text!) + 1;
      expect(said).toBe(end);
    }
  });

  it("need no end of the last one", async () => {
    expect(await read("a\n\nb")).toEqual([
      { text: "a", end: 2 },
      { text: "", end: 3 },
      { text: "b", end: 4 },
    ]);
    expect(await read("")).toEqual([]);
  });

  it("are passed over where they are too long", async () => {
    const long = Buffer.alloc(MAX_LINE + 1, "x");
    const lines = await read(Buffer.concat([Buffer.from("a\n"), long, Buffer.from("\nb\n")]));
    expect(lines.map(({ text }) => text)).toEqual(["a", undefined, "b"]);
  });

  it("are unpacked, and a file that ends too early or is something else is damaged", async () => {
    const lines = await read(packedRollout, "/a.jsonl.zst");
    expect(lines.map(({ text }) => JSON.parse(text!))).toEqual(pagedRollout);
    await expect(read(packedRollout.subarray(0, -9), "/a.jsonl.zst")).rejects.toThrow(
      "/a.jsonl.zst is damaged",
    );
    await expect(read("no zst at all", "/a.jsonl.zst")).rejects.toThrow("/a.jsonl.zst is damaged");
    await expect(read("", "/none.jsonl")).rejects.toThrow("/none.jsonl is not there");
  });
});
