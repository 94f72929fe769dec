import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { eventually } from "../../../../../../test/support/eventually.ts";
import { freshFolder } from "../../../../../../test/support/folder.ts";
import { indexStage, sqliteError } from "../../../../../../test/support/index-stage.ts";
import { sampleRow, sampleSearch, sampleText } from "../../../../../../test/support/sample-rows.ts";
import type { Worker } from "../../../platform/platform.ts";
import { BadCursor } from "../../list-cursor.ts";
import type { OccurrencePart } from "../../occurrence-search.ts";
import type { Occurrence, ThreadIndex } from "../../thread-index.ts";
import { IndexFile } from "./index-file.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const LARGE = 4 * 1024 * 1024;
const THERE = { hits: [], nextCursor: "from the worker", backwardsCursor: null };
const FALLBACK = "the search worker failed; searches run on the main thread and delay other requests";

/** A worker that answers one question after the other. It throws an error. */
function worker(...answers: readonly unknown[]) {
  const asked: unknown[] = [];
  const left = [...answers];
  const searcher: Worker = {
    ask: async (question) => {
      asked.push(question);
      const answer = left.length > 1 ? left.shift() : left[0];
      if (answer instanceof Error) throw answer;
      return answer;
    },
    close: async () => {},
  };
  return { searcher, asked };
}
function ofSize(bytes: number): void {
  vi.spyOn(IndexFile.prototype, "bytes", "get").mockReturnValue(bytes);
}
const search = async (index: ThreadIndex, term = "needle") => {
  const { hits, nextCursor } = await index.search(sampleSearch(term));
  return nextCursor ?? hits.map(({ row }) => row.id);
};

describe("a search", () => {
  it("asks the worker if the index is large, and looks here if it is small", async () => {
    const { searcher, asked } = worker(THERE);
    const { index, home } = await indexStage({ searcher });
    index.record(sampleRow("a"), [sampleText("i", "a needle")]);
    ofSize(LARGE - 1);
    expect([await search(index), asked]).toEqual([["a"], []]);
    ofSize(LARGE);
    expect(await search(index)).toBe("from the worker");
    expect(asked).toEqual([{ path: join(home, "threads.v5.sqlite"), query: sampleSearch("needle") }]);
    const wrong = sampleSearch("needle", { cursor: "none" });
    await expect(index.search(wrong)).rejects.toBeInstanceOf(BadCursor);
    expect(asked).toHaveLength(1);
    await index.close();
  });

  it("looks here if there is no worker, or the index is in memory", async () => {
    ofSize(LARGE);
    const file = join(await freshFolder(), "file");
    await writeFile(file, "");
    const { searcher, asked } = worker(THERE);
    for (const options of [{}, { searcher, path: join(file, "threads.sqlite") }]) {
      const { index } = await indexStage(options);
      index.record(sampleRow("a"), [sampleText("i", "a needle")]);
      expect(await search(index)).toEqual(["a"]);
      const from = { place: 0, nth: 0 };
      const query = { threadId: "a", searchTerm: "needle", from, limit: 1, runningTurn: null };
      expect((await index.occurrences(query)).occurrences).toHaveLength(1);
      await index.close();
    }
    expect(asked).toEqual([]);
  });

  it("looks here from then on if the worker fails, and says so once", async () => {
    ofSize(LARGE);
    const { searcher, asked } = worker(new Error("no such worker"));
    const { index, warnings } = await indexStage({ searcher });
    index.record(sampleRow("a"), [sampleText("i", "a needle")]);
    expect([await search(index), await search(index)]).toEqual([["a"], ["a"]]);
    expect([asked.length, warnings()]).toEqual([1, [FALLBACK]]);
    await index.close();
  });

  it.each([
    ["waits, and asks again, if the file is locked", "database is locked", 1, []],
    [
      "goes on in a new file if the worker finds this one broken",
      "database disk image is malformed",
      0,
      ["the index is made anew from the journals"],
    ],
  ])("%s", async (_, message, pausesThen, warningsThen) => {
    ofSize(LARGE);
    const { searcher, asked } = worker(sqliteError(message), THERE);
    const { index, pauses, warnings } = await indexStage({ searcher });
    expect(await search(index)).toBe("from the worker");
    expect([asked.length, pauses.length, warnings()]).toEqual([2, pausesThen, warningsThen]);
    await index.close();
  });

  it("fails if the index is closed meanwhile", async () => {
    ofSize(LARGE);
    let end: ((cause: Error) => void) | undefined;
    let asked = false;
    const searcher: Worker = {
      ask: () => {
        asked = true;
        return new Promise((_, reject) => {
          end = reject;
        });
      },
      close: async () => end?.(new Error("the worker has ended")),
    };
    const { index, warnings } = await indexStage({ searcher });
    const refused = expect(search(index)).rejects.toThrow("the worker has ended");
    await eventually(() => asked, "the worker is asked");
    await index.close();
    await refused;
    expect(warnings()).toEqual([]);
  });
});

describe("the occurrences in a thread", () => {
  const at = (place: number, nth = 0): Occurrence => ({
    place,
    nth,
    turnId: "turn",
    itemId: `i${place}`,
    snippet: "needle",
    start: 0,
    end: 6,
  });
  const part = (found: readonly Occurrence[], next: number | null): OccurrencePart => ({
    found,
    next: next === null ? null : { place: next, nth: 0 },
  });
  const query = {
    threadId: "t",
    searchTerm: "needle",
    from: { place: 1, nth: 0 },
    limit: 3,
    runningTurn: "r",
  };
  const wanted = (asked: readonly unknown[]) =>
    asked.map((question) => {
      const { occurrences } = question as { readonly occurrences: typeof query };
      expect(occurrences).toMatchObject({ threadId: "t", searchTerm: "needle", runningTurn: "r" });
      return [occurrences.from.place, occurrences.limit];
    });

  it("are asked for part by part, until there are enough of them", async () => {
    const { searcher, asked } = worker(part([], 4), part([at(4), at(4, 1)], 6), part([at(7), at(7, 1)], 9));
    const { index, events } = await indexStage({ searcher });
    const page = await index.occurrences(query);
    expect(page).toEqual({ occurrences: [at(4), at(4, 1), at(7)], next: { place: 7, nth: 1 } });
    expect(wanted(asked)).toEqual([
      [1, 4],
      [4, 4],
      [6, 2],
    ]);
    // The end of the rebuild, and one after each part that has a next one.
    expect(events).toEqual(["soon", "soon", "soon", "soon"]);
    await index.close();
  });

  it("end with the last part, with and without a next one", async () => {
    for (const [parts, found, next] of [
      [[part([at(2)], 5), part([at(6)], null)], [at(2), at(6)], null],
      [[part([at(2), at(3), at(4)], null)], [at(2), at(3), at(4)], null],
      [[part([at(2), at(3), at(4), at(5)], null)], [at(2), at(3), at(4)], { place: 5, nth: 0 }],
      [[part([], null)], [], null],
    ] as const) {
      const { searcher, asked } = worker(...parts);
      const { index } = await indexStage({ searcher });
      expect(await index.occurrences(query)).toEqual({ occurrences: found, next });
      expect(asked).toHaveLength(parts.length);
      await index.close();
    }
  });

  it("include what waits to be written", async () => {
    const { index } = await indexStage();
    index.record(sampleRow("t"), [{ ...sampleText("i", "a needle"), place: 1 }]);
    expect((await index.occurrences(query)).occurrences).toMatchObject([{ itemId: "i", place: 1 }]);
    await index.close();
  });
});
