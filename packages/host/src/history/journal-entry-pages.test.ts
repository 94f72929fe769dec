import { describe, expect, it } from "vitest";
import type { Commit, ThreadRecord } from "../core/records.ts";
import { MemoryJournal } from "../store/memory/in-memory-journal.ts";
import { type JournalQuery, journalPage } from "./journal-entry-pages.ts";

async function journalOf(commits: readonly (readonly object[])[]): Promise<MemoryJournal> {
  const journal = new MemoryJournal();
  const made = commits.map((records, nth): Commit => {
    return { seq: nth + 1, epoch: 1, prev: nth, records: records as ThreadRecord[] };
  });
  await journal.append(made);
  return journal;
}

const renamed = (name: string, at = 1000) => ({ type: "renamed", at, name });

/** A function that reads pages of a journal. */
async function reader(commits: readonly (readonly object[])[]) {
  const journal = await journalOf(commits);
  return (query: JournalQuery) => journalPage({ threadId: "t", journal, toolServers: [] }, query);
}

async function all(read: Awaited<ReturnType<typeof reader>>, query: JournalQuery) {
  const places: string[] = [];
  let pages = 0;
  for (let cursor: string | null | undefined; cursor !== null; pages++) {
    const { data, nextCursor } = await read({ ...query, cursor });
    places.push(...data.map(({ seq, index }) => `${seq}.${index}`));
    cursor = nextCursor;
  }
  return { places, pages };
}

describe("pages of a journal", () => {
  it("continue within a commit, in both directions", async () => {
    const read = await reader([[renamed("a"), renamed("b"), renamed("c")], [], [renamed("d"), renamed("e")]]);
    const places = ["1.0", "1.1", "1.2", "3.0", "3.1"];
    for (const limit of [1, 2, 3, 4, 5, 6]) {
      expect((await all(read, { limit, sortDirection: "asc" })).places).toEqual(places);
      expect((await all(read, { limit })).places).toEqual(places.toReversed());
    }
  });

  it("end after 2000 commits, whether anything matches or not", async () => {
    const read = await reader(Array.from({ length: 4500 }, (_, nth) => [renamed(`name ${nth}`)]));
    expect(await all(read, { types: ["closed"] })).toEqual({ places: [], pages: 3 });
    expect(await all(read, { searchTerm: "name 77", limit: 500 })).toMatchObject({ pages: 3 });
    expect(await all(read, { searchTerm: "nobody", sortDirection: "asc" })).toEqual({ places: [], pages: 3 });
  });

  it("end when they have a megabyte of JSON", async () => {
    const read = await reader(Array.from({ length: 20 }, () => [renamed("x".repeat(200_000))]));
    const { data, nextCursor } = await read({ includeJson: true });
    expect(data.length).toBeLessThan(5);
    expect(nextCursor).not.toBeNull();
    expect((await read({})).data).toHaveLength(20);
  });

  it("hide the URLs to which answers are posted, wherever they are", async () => {
    const choice = { requestId: 1, callId: "c", server: "desk", responseUrl: "http://secret/", selected: 0 };
    const read = await reader([[{ type: "choiceMade", at: 1000, choice }]]);
    const { data } = await read({ includeJson: true });
    expect(JSON.stringify(data)).not.toContain("http://secret/");
    expect(data[0]!.json).toContain('"responseUrl":"(hidden)"');
    expect((await read({ searchTerm: "http://secret/" })).data).toEqual([]);
  });

  it("find texts with quotes and line ends", async () => {
    const read = await reader([[renamed('say "Hello"\nto me')]]);
    expect((await read({ searchTerm: '"hello"\nTO' })).data).toHaveLength(1);
  });

  it("give a record without a time that of its commit, or of the record before", async () => {
    const usage = { type: "statusChanged", status: { type: "idle" } };
    const read = await reader([[usage, renamed("a", 5)], [usage], [renamed("b", 9)]]);
    const { data } = await read({});
    expect(data.map(({ atMs }) => atMs)).toEqual([9, 5, 5, 5]);
    expect((await read({ limit: 2 })).data.map(({ atMs }) => atMs)).toEqual([9, null]);
  });
});
