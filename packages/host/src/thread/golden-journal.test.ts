// A journal with one of every record that was ever written, and what it has to be read as by every later program. When
// a record type or a version of one is added, a commit with it is added at the end, and what it leads to is added to
// expected.json. Nothing that is there is ever changed: journals like it are on people's disks. Where a part of the state
// moves to another place, expected.json follows, value for value.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { goldenLines, GOLDEN_ID as ID, testHome } from "../../../../test/support/journal-home.ts";
import { notify } from "../core/notify.ts";
import { RECORDS, type ThreadRecord } from "../core/records.ts";
import { textsOf } from "../journal/index/row.ts";
import type { JournalReader } from "../journal/journal.ts";
import { recall } from "../journal/recall.ts";
import { forkHistory } from "./fork.ts";
import { allTurns } from "./history.ts";

const lines = await goldenLines();
const text = `${lines.join("\n")}\n`;
const expected = JSON.parse(
  await readFile(join(import.meta.dirname, "golden-journal", "expected.json"), "utf8"),
);

/** Nothing in it is to be complained about. */
async function reading<T>(journalText: string, read: (reader: JournalReader) => Promise<T>): Promise<T> {
  const home = await testHome();
  try {
    await home.put(ID, journalText);
    const found = await home.read(ID, read);
    expect(home.warnings).toEqual([]);
    return found;
  } finally {
    await home.remove();
  }
}

describe("the golden journal", () => {
  it("has every version of every record type", () => {
    const records = lines.flatMap((line) => JSON.parse(line).records as (ThreadRecord & { v?: number })[]);
    const found = new Set(records.map(({ type, v = 1 }) => `${type} ${v}`));
    const missing = Object.entries(RECORDS).flatMap(([type, { version }]) =>
      Array.from({ length: version }, (_, nth) => `${type} ${nth + 1}`).filter((one) => !found.has(one)),
    );
    expect(missing).toEqual([]);
  });

  it.each(Object.keys(expected.states).map(Number))(
    "[JOURNAL-4] leads to the same state as ever after commit %i",
    async (seq) => {
      const head = await reading(`${lines.slice(0, seq).join("\n")}\n`, recall);
      expect(head?.seq).toBe(seq);
      // A later program may know more, but nothing else.
      expect(head?.state).toMatchObject(expected.states[seq]);
    },
  );

  it("[JOURNAL-4] leads to the same state without its checkpoints", async () => {
    const bare = lines.map((line) => {
      const commit = JSON.parse(line);
      const records = commit.records.filter(({ type }: ThreadRecord) => type !== "checkpoint");
      return `${JSON.stringify({ ...commit, records })}\n`;
    });
    const head = await reading(bare.join(""), recall);
    expect(head?.state).toMatchObject(expected.states[lines.length]);
  });

  it("[JOURNAL-4] sends the same notifications as ever", async () => {
    const sent = await reading(text, async (reader) => {
      const all: unknown[] = [];
      for await (const { commit } of reader.forwards()) {
        for (const record of commit.records) {
          for (const notification of notify(ID, record)) all.push({ seq: commit.seq, ...notification });
        }
      }
      return all;
    });
    expect(sent).toEqual(expected.notifications);
  });

  it("[JOURNAL-4] gives the same turns, the same texts to search in, and the same fork as ever", async () => {
    await reading(text, async (reader) => {
      expect(await allTurns(reader)).toEqual(expected.turns);
      const texts: unknown[] = [];
      for await (const { commit } of reader.forwards()) texts.push(...textsOf(commit));
      expect(texts).toEqual(expected.texts);
      const { state } = (await recall(reader))!;
      const copied: string[][] = [];
      for await (const records of forkHistory(reader, state, {}))
        copied.push(records.map(({ type }) => type));
      expect(copied).toEqual(expected.fork);
    });
  });
});
