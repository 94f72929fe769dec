import type { JournalEntry } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { JournalRecords } from "./journal-records.ts";
import { GROUP, typesOf } from "./record-groups.ts";

const ALL = { type: "", text: "", turnId: "" };

/** A host that replies with pages in order, and what it was asked for. */
function stage(pages: readonly { seqs: number[]; next: string | null; newest?: string }[], filter = ALL) {
  const asked: object[] = [];
  let nth = 0;
  const client = {
    request: async (_method: string, params: object) => {
      asked.push(params);
      const page = pages[nth++]!;
      return {
        data: page.seqs.map((seq) => ({ seq }) as JournalEntry),
        nextCursor: page.next,
        newestCursor: page.newest ?? null,
      };
    },
  };
  const records = new JournalRecords(client as never, "t", filter);
  return { records, asked, seqs: () => records.entries.value.map(({ seq }) => seq) };
}

describe("the records of a journal in the console", () => {
  it("are read page by page, over pages without a match", async () => {
    const { records, asked, seqs } = stage([
      { seqs: [9, 8], next: "a", newest: "n" },
      { seqs: [], next: "b" },
      { seqs: [3], next: null },
    ]);
    await records.readOlder();
    expect([seqs(), records.isComplete.value]).toEqual([[9, 8], false]);
    await records.readOlder();
    expect([seqs(), records.isComplete.value]).toEqual([[9, 8, 3], true]);
    await records.readOlder();
    expect(asked).toEqual([
      { threadId: "t", limit: 100 },
      { threadId: "t", limit: 100, cursor: "a" },
      { threadId: "t", limit: 100, cursor: "b" },
    ]);
  });

  it("grow at the top with what is written later", async () => {
    const { records, asked, seqs } = stage([
      { seqs: [2, 1], next: null, newest: "n2" },
      { seqs: [3, 4], next: "m", newest: "n4" },
      { seqs: [5], next: null, newest: "n5" },
      { seqs: [], next: null, newest: "n5" },
    ]);
    await records.readOlder();
    await records.readNewer();
    expect(seqs()).toEqual([5, 4, 3, 2, 1]);
    await records.readNewer();
    expect(asked.slice(1)).toEqual([
      { threadId: "t", limit: 100, cursor: "n2", sortDirection: "asc" },
      { threadId: "t", limit: 100, cursor: "m", sortDirection: "asc" },
      { threadId: "t", limit: 100, cursor: "n5", sortDirection: "asc" },
    ]);
  });

  it("pause a long search without a match, and stop when the page is left", async () => {
    const empty = Array.from({ length: 60 }, () => ({ seqs: [], next: "more" }));
    const { records, asked } = stage(empty, { type: "renamed", text: "x", turnId: "u" });
    await records.readOlder();
    expect([records.isPaused.value, asked.length]).toEqual([true, 25]);
    expect(asked[0]).toEqual({
      threadId: "t",
      limit: 100,
      types: ["renamed"],
      searchTerm: "x",
      turnId: "u",
    });
    const left = records.readOlder();
    records.close();
    await left;
    expect(asked).toHaveLength(25);
  });

  it("are chosen by type or by group", () => {
    expect(typesOf("")).toBeUndefined();
    expect(typesOf("renamed")).toEqual(["renamed"]);
    expect(typesOf(`${GROUP}Hooks`)).toEqual(["hooksStarted", "hooksEnded", "lastHooksDue"]);
  });
});
