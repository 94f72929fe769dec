import { expect, it } from "vitest";
import { chunkIdOf, modelOutput } from "./output-for-model.ts";

const ENDED = {
  chunkId: "4160a1",
  unread: "one three\n",
  tookMs: 1234.56,
  exitCode: 0,
  processId: "82244",
  maxTokens: undefined,
  save: async () => undefined,
};

it("[EXEC-18] has the form of the Codex CLI's results", async () => {
  expect(await modelOutput(ENDED)).toBe(
    "Chunk ID: 4160a1\nWall time: 1.2346 seconds\nProcess exited with code 0\nOriginal token count: 3\nOutput:\none three\n",
  );
  expect(await modelOutput({ ...ENDED, unread: "", tookMs: 301, exitCode: undefined })).toBe(
    "Chunk ID: 4160a1\nWall time: 0.3010 seconds\nProcess running with session ID 82244\nOriginal token count: 0\nOutput:\n",
  );
});

it("[EXEC-18] marks a cut as the Codex CLI does, and names the file with the rest", async () => {
  const unread = Array.from({ length: 100 }, (_, nth) => `${nth + 1}\n`).join("");
  const cut = { ...ENDED, unread, maxTokens: 4 };
  const start =
    "Original token count: 73\nOutput:\nWarning: truncated output (original token count: 73)\nTotal output lines: 100\n\n1\n2\n3\n4\n";
  expect(await modelOutput(cut)).toContain(`${start}…69 tokens truncated…\n99\n100\n`);
  expect(await modelOutput({ ...cut, save: async () => "the whole output is in /a.txt" })).toContain(
    `${start}…69 tokens truncated; the whole output is in /a.txt …\n99\n100\n`,
  );
});

it("[EXEC-18] has notes before the output", async () => {
  expect(await modelOutput({ ...ENDED, notes: ["A note."] })).toContain(
    "Original token count: 3\nA note.\nOutput:\none three\n",
  );
});

it("makes six digits of any number", () => {
  expect([0, 255, 2 ** 53 - 1].map(chunkIdOf)).toEqual(["000000", "0000ff", "ffffff"]);
});
