import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Log } from "../../observe/log.ts";
import { nodeFiles } from "../../platform/node-files.ts";
import { cutTornTail } from "./journal-file-reader.ts";

let folder: string;
let warned: number;
const log: Log = {
  debug() {},
  info() {},
  warn: () => void warned++,
  error() {},
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "torn-"));
  warned = 0;
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const line = (seq: number, size = 0): string =>
  `${JSON.stringify({ seq, epoch: 1, prev: seq - 1, records: [], pad: "x".repeat(size) })}\n`;

async function cut(content: string): Promise<string> {
  const path = join(folder, "journal.jsonl");
  await writeFile(path, content);
  const files = nodeFiles();
  const file = await files.openAppend(path);
  try {
    await cutTornTail(files, file, path, log);
    // The next line goes to where the last whole one ends.
    await file.append(Buffer.from("next\n"));
  } finally {
    await file.close();
  }
  return readFile(path, "utf8");
}

describe("a torn last line", () => {
  const whole: Record<string, string> = {
    "no line": "",
    "one line": line(1),
    "three lines": line(1) + line(2) + line(3),
    "a line that is longer than a chunk": line(1) + line(2, 100_000),
    "lines that end with a chunk": `${"x".repeat(64 * 1024 - 1)}\n${line(2)}`,
  };
  const torn: Record<string, string> = {
    "its first byte": "{",
    "all but its end": line(4).slice(0, -1),
    "a piece that fills a chunk": "x".repeat(64 * 1024),
    "more than two chunks": "x".repeat(150_000),
  };

  for (const [before, lines] of Object.entries(whole)) {
    for (const [what, tail] of Object.entries(torn)) {
      it(`of which ${what} was written is cut off behind ${before}, and nothing else is`, async () => {
        expect(await cut(lines + tail)).toBe(`${lines}next\n`);
        expect(warned).toBe(1);
      });
    }
    it(`that is whole stays: ${before}`, async () => {
      expect(await cut(lines)).toBe(`${lines}next\n`);
      expect(warned).toBe(0);
    });
  }
});
