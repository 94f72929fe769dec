// A journal with every record type and version that was ever written, and the states that every later version of the
// program must read from it. For a new record type or version, append a commit with it, add the state to expected.json,
// and add the digests of both to digests.json. Never change an existing commit, state or digest: users have such
// journals on disk. States are compared in the format of checkpoints.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { goldenLines, GOLDEN_ID as ID, testHome } from "../../../../test/support/journal-home.ts";
import { checkpointOf } from "../core/life/make-checkpoint.ts";
import { notify } from "../core/notify.ts";
import { RECORDS, type ThreadRecord } from "../core/records.ts";
import { effectiveBackwards } from "../history/effective-records.ts";
import { forkHistory } from "../history/fork-history.ts";
import { allTurns } from "../history/stored-turns.ts";
import { textsOf } from "../store/index-updates.ts";
import type { JournalReader } from "../store/journal.ts";
import { MemoryJournal } from "../store/memory/in-memory-journal.ts";
import { readHead } from "../store/thread-head.ts";

const lines = await goldenLines();
const text = `${lines.join("\n")}\n`;
const expected = await goldenJson("expected.json");

async function goldenJson(name: string) {
  return JSON.parse(await readFile(join(import.meta.dirname, "golden-journal", name), "utf8"));
}

function digestOf(content: string): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 16);
}

/** Reads a journal. Reading it must not cause a warning. */
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

  it("[JOURNAL-4] has the same commits and expects the same states as ever", async () => {
    const commits = lines.map((line, index) => [String(index + 1), digestOf(line)]);
    const states = Object.entries(expected.states).map(([seq, state]) => [
      seq,
      digestOf(JSON.stringify(state)),
    ]);
    // A missing entry is a new commit or state: add it. Another value means that an old one was changed: undo that.
    expect(await goldenJson("digests.json")).toEqual({
      commits: Object.fromEntries(commits),
      states: Object.fromEntries(states),
    });
  });

  it.each(Object.keys(expected.states).map(Number))(
    "[JOURNAL-4] leads to the same state as ever after commit %i",
    async (seq) => {
      const head = await reading(`${lines.slice(0, seq).join("\n")}\n`, readHead);
      expect(head?.seq).toBe(seq);
      // A later version may add fields, but must not change any.
      expect(checkpointOf(head!.state).state).toMatchObject(expected.states[seq]);
    },
  );

  it("[JOURNAL-4] leads to the same state without its checkpoints", async () => {
    const bare = lines.map((line) => {
      const commit = JSON.parse(line);
      const records = commit.records.filter(({ type }: ThreadRecord) => type !== "checkpoint");
      return `${JSON.stringify({ ...commit, records })}\n`;
    });
    const head = await reading(bare.join(""), readHead);
    expect(checkpointOf(head!.state).state).toMatchObject(expected.states[lines.length]);
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
      const { state } = (await readHead(reader))!;
      const fork = new MemoryJournal();
      let prev = 0;
      for await (const records of forkHistory(reader, state, {}))
        await fork.append({ seq: prev + 1, epoch: 1, prev: prev++, records });
      const effective: string[][] = [];
      for await (const { records } of effectiveBackwards(fork))
        if (records.length > 0) effective.unshift(records.map(({ type }) => type).toReversed());
      expect(effective).toEqual(expected.fork);
    });
  });
});
