import { describe, expect, it } from "vitest";
import { goldenLines } from "../../../../test/support/journal-home.ts";
import type { Commit } from "../core/records.ts";
import type { Hint, Placed, Position } from "../store/journal.ts";
import { MemoryJournal } from "../store/memory/in-memory-journal.ts";
import { journalPage } from "./journal-entry-pages.ts";
import { itemsPage, turnsPage } from "./turn-pages.ts";

const LINES = await goldenLines();

/** A journal whose hints are text. It notes the hints that it gets back, each with its sequence number. */
class HintedJournal extends MemoryJournal {
  readonly used: string[] = [];

  override backwards(through?: Position): AsyncIterable<Placed> {
    return this.#hinted(super.backwards(through), through);
  }

  override forwards(from?: Position): AsyncIterable<Placed> {
    return this.#hinted(super.forwards(from), from);
  }

  async *#hinted(placed: AsyncIterable<Placed>, at: Position | undefined): AsyncIterable<Placed> {
    if (at?.hint !== undefined) this.used.push(`${at.seq} ${at.hint}`);
    for await (const { commit } of placed)
      yield { commit, start: hint("B", commit.seq), end: hint("E", commit.seq) };
  }
}

function hint(side: "B" | "E", seq: number): Hint {
  return `${side}0X${seq}I`;
}

async function goldenJournal(): Promise<HintedJournal> {
  const journal = new HintedJournal();
  for (const line of LINES) await journal.append(JSON.parse(line) as Commit);
  return journal;
}

/** Reads all pages of one row in both directions. Returns the rows of each direction. */
async function walk<T>(
  read: (query: { cursor: string | null; limit: number; sortDirection: "asc" | "desc" }) => Promise<{
    readonly data: readonly T[];
    readonly nextCursor: string | null;
  }>,
) {
  const rows: Record<"asc" | "desc", T[]> = { asc: [], desc: [] };
  for (const sortDirection of ["asc", "desc"] as const) {
    for (let cursor: string | null = null; ; ) {
      const page = await read({ cursor, limit: 1, sortDirection });
      rows[sortDirection].push(...page.data);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
  }
  return rows;
}

describe("the cursors of pages", () => {
  const state = { mayHaveDropped: true };
  const readers = {
    turns: (journal: HintedJournal) => walk((query) => turnsPage({ journal, state }, query)),
    items: (journal: HintedJournal) => walk((query) => itemsPage({ journal, state }, query)),
    records: (journal: HintedJournal) =>
      walk((query) => journalPage({ threadId: "t", journal, toolServers: [] }, query)),
  };

  it.each(Object.entries(readers))("give hints of any kind back to the store: %s", async (_, read) => {
    const journal = await goldenJournal();
    const { asc, desc } = await read(journal);
    expect(asc.length).toBeGreaterThan(1);
    expect(desc).toEqual(asc.toReversed());
    expect(journal.used.length).toBeGreaterThan(0);
    for (const used of journal.used) {
      const [, at, side, of] = /^(\d+) ([BE])0X(\d+)I$/.exec(used)!;
      // The end of a commit is also where the next one begins.
      const seqs = side === "B" ? [Number(of)] : [Number(of), Number(of) + 1];
      expect(seqs).toContain(Number(at));
    }
  });

  it("of an earlier version, with offsets, are still accepted", async () => {
    const journal = await goldenJournal();
    const { data } = await turnsPage({ journal, state }, { sortDirection: "asc" });
    const cursor = "2.1-0.0.i";
    const page = await turnsPage({ journal, state }, { cursor, sortDirection: "asc" });
    expect(page.data).toEqual(data);
    expect(journal.used).toContain("1 0");
    const records = { threadId: "t", journal, toolServers: [] };
    expect((await journalPage(records, { cursor: "1.2-10-20.0i", sortDirection: "asc" })).data[0]?.seq).toBe(
      2,
    );
  });

  it.each(["2.1-a.0.", "2.1-0 .0.", `2.1-${"9".repeat(41)}.0.`, "1.1-0.0.", "3.1-0.0."])(
    "are refused if they are not ours: %s",
    async (cursor) => {
      const journal = await goldenJournal();
      await expect(turnsPage({ journal, state }, { cursor })).rejects.toMatchObject({
        code: "invalidCursor",
      });
    },
  );
});
