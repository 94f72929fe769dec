import { mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../../../../../test/support/eventually.ts";
import {
  sampleQuery,
  sampleRow,
  sampleSearch,
  sampleText,
} from "../../../../../../test/support/sample-rows.ts";
import type { Fault } from "../../../errors.ts";
import type { Log } from "../../../observe/log.ts";
import { nodeFiles } from "../../../platform/node-files.ts";
import { NodeWorker } from "../../../platform/node-worker.ts";
import type { Timers } from "../../../platform/platform.ts";
import { BadCursor } from "../../list-cursor.ts";
import type { IndexedText, OccurrenceQuery, ThreadIndex, ThreadRow } from "../../thread-index.ts";
import { openThreadIndex, type ThreadIndexOptions } from "./sqlite-index.ts";

let home: string;
let opened: ThreadIndex[];
let journals: Map<string, { row: ThreadRow; texts: IndexedText[]; goneTurns?: string[] }>;
let rebuilds: number;
let said: string[];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "thread-index-"));
  opened = [];
  journals = new Map();
  rebuilds = 0;
  said = [];
});
afterEach(async () => {
  await Promise.all(opened.map((index) => index.close()));
  await rm(home, { recursive: true, force: true });
});

const timers: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  soon: (run) => void setImmediate(run),
};
const say = (message: string) => void said.push(message);
const log: Log = { debug: say, info: say, warn: say, error: say };

async function* allJournals() {
  rebuilds++;
  for (const entry of [...journals.values()]) yield entry;
}

function open(more: Partial<ThreadIndexOptions> = {}): ThreadIndex {
  // Time jumps with every look, so that a successor is looked for each time.
  let now = 0;
  const index = openThreadIndex({
    path: join(home, "threads.sqlite"),
    files: nodeFiles(),
    clock: { now: () => 0, monotonic: () => (now += 2000) },
    timers,
    log,
    rebuild: allJournals,
    ...more,
  });
  opened.push(index);
  return index;
}

/** Recorded as the host does: the journal has it first. */
function record(index: ThreadIndex, row: ThreadRow, ...texts: IndexedText[]): void {
  journals.set(row.id, { row, texts: [...(journals.get(row.id)?.texts ?? []), ...texts] });
  index.record(row, texts);
}

const ids = async (index: ThreadIndex, query = sampleQuery()) =>
  (await index.list(query)).rows.map((row) => row.id);
const found = async (index: ThreadIndex, term: string) =>
  (await index.search(sampleSearch(term))).hits.map((hit) => [hit.row.id, hit.snippet]);
const FIRST = "threads.v5.sqlite";

describe("a row that cannot be written", () => {
  const bad = (id: string): ThreadRow => ({ ...sampleRow(id), createdAt: {} as never });

  it("[DAMAGE-2] keeps no other thread from being listed, and is logged", async () => {
    const index = open();
    for (const row of [sampleRow("a"), bad("b"), sampleRow("c")]) index.record(row, []);
    expect((await ids(index)).sort()).toEqual(["a", "c"]);
    expect(said.filter((message) => /cannot be written to the index/.test(message))).toHaveLength(1);
    // Not again: it is not what waits to be written any more.
    index.record(sampleRow("d"), []);
    expect((await ids(index)).sort()).toEqual(["a", "c", "d"]);
    expect(said.filter((message) => /cannot be written to the index/.test(message))).toHaveLength(1);
  });

  it("[DAMAGE-2] is also one that is nested too deeply to be written as JSON", async () => {
    const index = open();
    let gitInfo = {};
    for (let depth = 0; depth < 100_000; depth++) gitInfo = { gitInfo };
    const { thread, ...row } = sampleRow("b");
    index.record({ ...row, thread: { ...thread, gitInfo: gitInfo as never } }, []);
    index.record(sampleRow("c"), []);
    expect(await ids(index)).toEqual(["c"]);
  });

  it("[DAMAGE-2] keeps no rebuild from its end", async () => {
    for (const row of [sampleRow("a"), bad("b"), sampleRow("c")]) journals.set(row.id, { row, texts: [] });
    expect((await ids(open())).sort()).toEqual(["a", "c"]);
  });
});

describe("the index", () => {
  it("touches nothing until it is used", async () => {
    await open().close();
    await open().flush();
    expect(await readdir(home)).toEqual([]);
  });

  it("gives back rows as they were recorded, newest first, and by id", async () => {
    const index = open();
    const rows = [1, 2, 3].map((n) => sampleRow(`t${n}`, { createdAt: n * 1000, thread: { name: `n${n}` } }));
    for (const row of rows) record(index, row);
    expect((await index.list(sampleQuery())).rows).toEqual(rows.toReversed());
    expect(await index.get("t2")).toEqual(rows[1]);
    expect(await index.get("none")).toBeUndefined();
  });

  it("writes on its own after a while, in a file that only its owner can read", async () => {
    const index = open();
    record(index, sampleRow("t1"));
    const count = async () => {
      if (!(await readdir(home)).includes(FIRST)) return 0;
      const db = new DatabaseSync(join(home, FIRST), { readOnly: true });
      try {
        return (db.prepare("SELECT count(*) AS n FROM threads").get() as { n: number }).n;
      } catch {
        return 0;
      } finally {
        db.close();
      }
    };
    await eventually(async () => (await count()) === 1, "the row is written");
    // Also after rows were written for somebody who asked.
    await index.flush();
    record(index, sampleRow("t2"));
    await index.flush();
    record(index, sampleRow("t3"));
    await eventually(async () => (await count()) === 3, "the third row is written");
  });

  /** Timers that never fire, and the delays of those that were not cancelled. */
  const stopped = (): { readonly timers: Timers; readonly delays: number[] } => {
    const delays: number[] = [];
    const after: Timers["after"] = (ms) => {
      delays.push(ms);
      return () => void delays.splice(delays.indexOf(ms), 1);
    };
    return { timers: { after, soon: timers.soon }, delays };
  };

  it("plans to write each row that comes after a flush", async () => {
    const { delays, timers } = stopped();
    const index = open({ timers });
    for (const id of ["t1", "t2", "t3"]) {
      record(index, sampleRow(id));
      expect(delays).toEqual([200]);
      await index.flush();
      expect(delays).toEqual([]);
    }
  });

  it("writes at once when 500 rows or a million characters wait", async () => {
    const { delays, timers } = stopped();
    const index = open({ timers });
    for (let n = 1; n < 500; n++) record(index, sampleRow(`t${n}`));
    expect(delays).toEqual([200]);
    record(index, sampleRow("t500"));
    expect(delays).toEqual([0]);
    await index.flush();
    record(index, sampleRow("t1"), sampleText("a", "x".repeat(999_999)));
    expect(delays).toEqual([200]);
    record(index, sampleRow("t2"), sampleText("a", "x"));
    expect(delays).toEqual([0]);
  });

  it("holds 32 million characters that wait, and then reads nothing again", async () => {
    const { timers } = stopped();
    const index = open({ timers });
    expect(await ids(index)).toEqual([]);
    index.record(sampleRow("t1"), [sampleText("a", "x".repeat(32_000_000))]);
    // In place of what waits, so that the test need not write all of it.
    await index.restate(sampleRow("t1", { createdAt: 1 }), []);
    record(index, sampleRow("t2", { createdAt: 2 }));
    expect(await ids(index)).toEqual(["t2", "t1"]);
    expect(rebuilds).toBe(1);
  });

  it("reads texts from the journals if more of them waited than it may hold", async () => {
    const { timers } = stopped();
    const index = open({ timers });
    expect(await ids(index)).toEqual([]);
    const row = sampleRow("t1");
    journals.set(row.id, { row, texts: [sampleText("a", "needle")] });
    index.record(row, [sampleText("a", "x".repeat(32_000_001))]);
    expect(await found(index, "needle")).toEqual([["t1", "needle"]]);
  });

  it("keeps the row with the highest seq, in a batch and across batches", async () => {
    const index = open();
    const at = (seq: number) => sampleRow("t1", { seq, thread: { name: `seq ${seq}` } });
    index.record(at(2), []);
    index.record(at(3), []);
    index.record(at(1), []);
    expect((await index.get("t1"))?.thread.name).toBe("seq 3");
    index.record(at(2), []);
    expect((await index.get("t1"))?.thread.name).toBe("seq 3");
    index.record(at(3), []);
    expect(await found(index, "seq 3")).toEqual([["t1", "seq 3"]]);
  });

  it("takes what is restated in place of something newer, its texts too, and names all that it knows", async () => {
    const index = open();
    const text = (itemId: string, what: string): IndexedText => {
      return { turnId: itemId, itemId, role: "user", at: 1, text: what, kind: "user", place: 0 };
    };
    index.record(sampleRow("t1", { seq: 7, thread: { name: "later" } }), [
      text("i1", "old"),
      text("i2", "new"),
    ]);
    index.record(sampleRow("t2"), []);
    await index.restate(sampleRow("t1", { seq: 4, thread: { name: "before" } }), [text("i1", "old")]);
    expect((await index.get("t1"))?.thread.name).toBe("before");
    expect([await found(index, "new"), await found(index, "later")]).toEqual([[], []]);
    expect(await found(index, "old")).toEqual([["t1", "old"]]);
    expect([...(await index.known()).keys()].toSorted()).toEqual(["t1", "t2"]);
  });

  it("names threads whose rows are yet to be written, and more than one page of them", async () => {
    const index = open();
    record(index, sampleRow("t1", { seq: 3, archived: true }));
    expect([...(await index.known())]).toEqual([["t1", { seq: 3, archived: true }]]);
    const all = Array.from({ length: 1001 }, (_, nth) => `m${nth}`);
    for (const id of all) record(index, sampleRow(id));
    expect(new Set((await index.known()).keys())).toEqual(new Set(["t1", ...all]));
  });

  it("writes many rows in batches", async () => {
    const index = open();
    for (let n = 0; n < 1234; n++) record(index, sampleRow(`t${n}`, { createdAt: n }));
    await index.flush();
    expect(await ids(index, sampleQuery({ limit: 3, sortDirection: "asc" }))).toEqual(["t0", "t1", "t2"]);
    let count = 0;
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await index.list(sampleQuery({ limit: 100, cursor }));
      count += page.rows.length;
      cursor = page.nextCursor;
    }
    expect(count).toBe(1234);
  });

  it("refuses a cursor that is none, or of another order", async () => {
    const index = open();
    record(index, sampleRow("a"));
    record(index, sampleRow("b"));
    const { nextCursor } = await index.list(sampleQuery({ limit: 1 }));
    const other = sampleQuery({ cursor: nextCursor!, sortKey: "updated_at" });
    await expect(index.list(other)).rejects.toBeInstanceOf(BadCursor);
    for (const cursor of [
      "",
      "not a cursor",
      "W10",
      Buffer.from('["created_at",1,2,0]').toString("base64"),
    ]) {
      await expect(index.list(sampleQuery({ cursor }))).rejects.toBeInstanceOf(BadCursor);
    }
  });

  it("begins a page in the other direction with the row that the first one began with", async () => {
    const index = open();
    for (let n = 1; n <= 3; n++) record(index, sampleRow(`t${n}`, { updatedAt: n }));
    const query = sampleQuery({ sortKey: "updated_at", limit: 1 });
    const page = await index.list(query);
    expect(page.rows.map((row) => row.id)).toEqual(["t3"]);
    record(index, sampleRow("t4", { updatedAt: 4 }));
    const since = { ...query, limit: 10, sortDirection: "asc" as const, cursor: page.backwardsCursor! };
    expect(await ids(index, since)).toEqual(["t3", "t4"]);
    expect((await index.list({ ...query, archived: true })).backwardsCursor).toBeNull();
  });

  it("forgets a thread with all its texts, and leaves none of their bytes in the file", async () => {
    const index = open();
    record(index, sampleRow("t1", { thread: { name: "verysecretname" } }), sampleText("i", "verysecrettext"));
    record(index, sampleRow("t2"), sampleText("i", "harmless"));
    expect(await found(index, "verysecrettext")).toHaveLength(1);
    await index.forget("t1");
    await index.forget("never heard of");
    expect(await index.get("t1")).toBeUndefined();
    expect(await found(index, "verysecrettext")).toEqual([]);
    expect(await found(index, "verysecretname")).toEqual([]);
    expect(await found(index, "harmless")).toHaveLength(1);
    await index.close();
    const bytes = await readFile(join(home, FIRST), "latin1");
    expect(bytes).not.toContain("verysecret");
    expect(bytes).toContain("harmless");
  });

  it("keeps not even the id of a thread that is forgotten before the index was filled", async () => {
    const index = open();
    record(index, sampleRow("a-thread-to-forget"));
    await index.forget("a-thread-to-forget");
    expect(await readFile(join(home, FIRST), "latin1")).not.toContain("a-thread-to-forget");
    await index.close();
  });

  it("answers nothing after it was closed, and ignores what comes late", async () => {
    const index = open();
    record(index, sampleRow("t1"));
    await Promise.all([index.close(), index.close()]);
    index.record(sampleRow("t2"), []);
    await expect(index.list(sampleQuery())).rejects.toThrow("the index is closed");
    expect(await ids(open())).toEqual(["t1"]);
  });
});

describe("a search", () => {
  it("finds texts, names and previews by all words, and by any part of a word", async () => {
    const index = open();
    record(index, sampleRow("t1", { createdAt: 1 }), sampleText("a", "a needle in\n\n a haystack"));
    record(index, sampleRow("t2", { createdAt: 2, thread: { name: "Needle work" } }));
    record(index, sampleRow("t3", { createdAt: 3, thread: { preview: "mixed NEEDLE suffix" } }));
    record(index, sampleRow("t4", { createdAt: 4 }), sampleText("a", "no hit"));
    expect(await found(index, "needle")).toEqual([
      ["t3", "mixed NEEDLE suffix"],
      ["t2", "Needle work"],
      ["t1", "a needle in a haystack"],
    ]);
    expect(await found(index, "hayst")).toEqual([["t1", "a needle in a haystack"]]);
    expect(await found(index, "haystack NEEDLE")).toHaveLength(1);
    expect(await found(index, "hayst eedl")).toHaveLength(1);
    expect(await found(index, "haystack needles")).toEqual([]);
  });

  it("takes nothing that a person writes for syntax", async () => {
    const index = open();
    record(index, sampleRow("t1"), sampleText("a", 'quoted "needle" \\ path NOT (x OR y) * text:foo'));
    for (const term of [
      'quoted "needle" \\ path',
      "NOT (x",
      "OR y)",
      '"',
      "*",
      "text:foo",
      "^quoted",
      "a NEAR(",
      "-x",
    ]) {
      await expect(index.search(sampleSearch(term))).resolves.toBeDefined();
    }
    expect(await found(index, 'quoted "needle" \\ path')).toEqual([
      ["t1", 'quoted "needle" \\ path NOT (x OR y) * text:foo'],
    ]);
    expect(await found(index, "text:foo")).toHaveLength(1);
    expect(await found(index, "  \\  ")).toHaveLength(1);
    for (const term of ["  ", "%", "_", "a%b", "\\\\"]) expect(await found(index, term), term).toEqual([]);
  });

  it("does not mind case or accents", async () => {
    const index = open();
    record(index, sampleRow("t1"), sampleText("a", "Über den Cafe\u0301-Tischen, ПРИВЕТ, Ωμέγα"));
    for (const term of ["uber", "CAFE", "café tisch", "привет", "ωμεγα", "ÜBER"]) {
      expect(await found(index, term), term).toEqual([["t1", "Über den Café-Tischen, ПРИВЕТ, Ωμέγα"]]);
    }
  });

  it.each([
    [
      "Japanese",
      "東京タワーの写真をconfigに追加してください",
      ["タワー", "写真", "京", "configに", "してください"],
    ],
    ["Chinese", "请把配置文件里的端口改成8080，再运行测试", ["端口", "文件", "试", "8080", "配置文件里的"]],
    ["Korean", "설정파일에서 포트를 바꿔주세요", ["파일", "트를", "설정파일에서 포트"]],
    ["Thai", "กรุณาแก้ไขไฟล์ตั้งค่า", ["ไฟล์", "แก้ไข", "ตั้งค่า"]],
    ["rare", "𠮷野家へ行く", ["𠮷", "野家へ"]],
  ])("finds any part of a text without spaces (%s)", async (_language, text, parts) => {
    const index = open();
    record(index, sampleRow("t1"), sampleText("a", text));
    record(index, sampleRow("t2", { thread: { name: text } }));
    record(index, sampleRow("t3"), sampleText("a", Array.from(text).toReversed().join("")));
    for (const part of parts) {
      const hits = await found(index, part);
      const both = [
        ["t1", text],
        ["t2", text],
      ];
      expect(hits, part).toEqual(expect.arrayContaining(both));
      if (part.length > 2) expect(hits, part).toHaveLength(2);
    }
    const [first, ...rest] = parts[0]!;
    expect(await found(index, `${first}x${rest.join("")}`)).toEqual([]);
  });

  it("finds what stands anywhere in a long text, with and without spaces", async () => {
    const index = open();
    const words = Array.from({ length: 6000 }, (_, at) => `w${at}`);
    const letters = Array.from({ length: 30_000 }, (_, at) =>
      String.fromCharCode(0x4e00 + ((at * 7919) % 20_000)),
    );
    record(index, sampleRow("t1"), sampleText("a", words.join(" ")));
    record(index, sampleRow("t2"), sampleText("a", letters.join("")));
    for (let at = 0; at < 6000 - 3; at += 97) {
      expect(await found(index, words.slice(at, at + 3).join(" ")), `word ${at}`).toHaveLength(1);
    }
    for (let at = 0; at < 30_000 - 4; at += 487) {
      const [hit] = await found(index, letters.slice(at, at + 4).join(""));
      expect(hit?.[0], `letter ${at}`).toBe("t2");
    }
  });

  it("shows a bounded piece of a long text, and finds what is far behind", async () => {
    const index = open();
    const long = `${"lorem ipsum dolor ".repeat(3000)} needle ${"sit amet ".repeat(3000)}`;
    record(index, sampleRow("t1"), sampleText("a", long), sampleText("b", `${"x".repeat(50_000)} haystack`));
    const [[, snippet]] = (await found(index, "needle")) as [[string, string]];
    expect(snippet).toContain("needle");
    expect(snippet.length).toBeLessThan(400);
    const [[, other]] = (await found(index, "haystack")) as [[string, string]];
    expect(other).toContain("haystack");
    expect(other.length).toBeLessThan(400);
  });

  it("has an item once, as it was last, and none of a turn that was taken back", async () => {
    const index = open();
    const row = sampleRow("t1");
    index.record(row, [sampleText("a", "first draft", "turn1"), sampleText("b", "kept", "turn0")]);
    await index.flush();
    index.record(row, [sampleText("a", "final words", "turn1")]);
    expect(await found(index, "draft")).toEqual([]);
    expect(await found(index, "final")).toEqual([["t1", "final words"]]);
    index.record(row, [], ["turn1"]);
    expect(await found(index, "final")).toEqual([]);
    expect(await found(index, "kept")).toHaveLength(1);
  });

  it("pages through its hits with the filters of lists", async () => {
    const index = open();
    for (let n = 0; n < 10; n++) {
      const source = n % 2 === 0 ? ("exec" as const) : ("cli" as const);
      record(index, sampleRow(`t${n}`, { createdAt: 5, thread: { source } }), sampleText("a", "needle"));
    }
    const query = sampleSearch("needle", { sourceKinds: ["exec"], limit: 3 });
    const first = await index.search(query);
    const second = await index.search({ ...query, cursor: first.nextCursor! });
    const pages = [...first.hits, ...second.hits].map((hit) => hit.row.id);
    expect(pages).toEqual(["t8", "t6", "t4", "t2", "t0"]);
    expect(second.nextCursor).toBeNull();
    const back = { ...query, sortDirection: "asc" as const, limit: 9, cursor: second.backwardsCursor! };
    expect((await index.search(back)).hits.map((hit) => hit.row.id)).toEqual(["t2", "t4", "t6", "t8"]);
  });
});

describe("a search in a large index", () => {
  const large = (index: ThreadIndex) => {
    for (let n = 0; n < 700; n++) {
      record(
        index,
        sampleRow(`t${n}`, { createdAt: n }),
        sampleText("a", `needle${n} ${"hay ".repeat(2000)}`),
      );
    }
  };

  it("runs in a thread of its own, and finds the same", async () => {
    const worker = new NodeWorker(join(import.meta.dirname, "../../../../../../dist/search-worker.cjs"));
    let asked = 0;
    const searcher = {
      ask: (message: unknown) => {
        asked++;
        return worker.ask(message);
      },
      close: () => worker.close(),
    };
    const index = open({ searcher });
    record(index, sampleRow("small"), sampleText("a", "needle"));
    expect(await found(index, "needle")).toHaveLength(1);
    expect(asked).toBe(0);
    large(index);
    const here = open();
    for (const term of ["needle7", "eedle69 HAY", "nothing"]) {
      const hits = await found(index, term);
      expect(hits).toEqual(await found(here, term));
      expect(hits.length > 0).toBe(term !== "nothing");
    }
    expect(asked).toBe(3);
    // What was deleted is found nowhere, and has left no bytes that a reader could hold up.
    await index.forget("t7");
    expect((await found(index, "needle7 ")).map(([id]) => id)).not.toContain("t7");
  });

  it("[LIST-15] [LIST-16] finds what was said in one thread there, in the order in which it was said", async () => {
    const searcher = new NodeWorker(join(import.meta.dirname, "../../../../../../dist/search-worker.cjs"));
    const index = open({ searcher });
    const said = (itemId: string, place: number, text: string, turnId = "one"): IndexedText => {
      return { ...sampleText(itemId, text, turnId), place };
    };
    const occurrences = async (at: ThreadIndex, more: Partial<OccurrenceQuery> = {}) => {
      const from = { place: 0, nth: 0 };
      const query = { threadId: "t", searchTerm: "needle", from, limit: 50, runningTurn: null, ...more };
      const page = await at.occurrences(query);
      return { ids: page.occurrences.map(({ itemId }) => itemId), next: page.next };
    };
    expect(await occurrences(index)).toEqual({ ids: [], next: null });
    // What comes later may be written first, as while the index is made.
    record(index, sampleRow("t", { seq: 9 }), said("c", 30, "needle c", "two"));
    await index.flush();
    record(index, sampleRow("t", { seq: 5 }), said("a", 10, "needle needle a"), {
      ...said("b", 20, "nee**dle** b"),
      kind: "final",
    });
    record(index, sampleRow("other"), said("d", 1, "needle of another thread"));
    record(index, sampleRow("t", { seq: 10, thread: { name: "needle" } }));
    expect(await occurrences(index)).toEqual({ ids: ["a", "a", "b", "c"], next: null });
    expect(await occurrences(index, { limit: 3 })).toEqual({
      ids: ["a", "a", "b"],
      next: { place: 30, nth: 0 },
    });
    expect(await occurrences(index, { from: { place: 10, nth: 1 }, limit: 1 })).toEqual({
      ids: ["a"],
      next: { place: 20, nth: 0 },
    });
    // Without that thread answers are looked through as they were written.
    expect((await occurrences(open())).ids).toEqual(["a", "a", "c"]);
    // What was dropped is not found.
    index.record(sampleRow("t", { seq: 11 }), [], ["one"]);
    expect((await occurrences(index)).ids).toEqual(["c"]);
  });

  it("[LIST-16] [LIST-17] finds everything in a thread that is too long to be looked through in one go", async () => {
    const worker = new NodeWorker(join(import.meta.dirname, "../../../../../../dist/search-worker.cjs"));
    let asked = 0;
    const searcher = {
      ask: (message: unknown) => {
        asked++;
        return worker.ask(message);
      },
      close: () => worker.close(),
    };
    const index = open({ searcher });
    const texts = Array.from({ length: 30 }, (_, at) => {
      const text = `${"hay ".repeat(50_000)} needle`;
      return { ...sampleText(`i${at}`, text, `turn ${at}`), place: at, kind: "answer" } as const;
    });
    record(index, sampleRow("t"), ...texts);
    const query = { threadId: "t", searchTerm: "NEEDLE", from: { place: 0, nth: 0 }, runningTurn: null };
    const all = await index.occurrences({ ...query, limit: 250 });
    expect(all.occurrences.map(({ itemId }) => itemId)).toEqual(texts.map(({ itemId }) => itemId));
    expect(all.next).toBeNull();
    // Between the pieces others have their turn.
    expect(asked).toBeGreaterThan(2);
    expect((await index.occurrences({ ...query, searchTerm: "nothing", limit: 1 })).occurrences).toEqual([]);
  });

  it("goes on where there is no thread to be had", async () => {
    const searcher = new NodeWorker(join(home, "nothing.cjs"));
    const index = open({ searcher });
    large(index);
    expect(await found(index, "needle699")).toHaveLength(1);
    expect(await found(index, "needle698")).toHaveLength(1);
  });
});

describe("a new index", () => {
  it("is whole from the start where its host has recorded every thread, and stays so for later hosts", async () => {
    const first = open({ hasRecordedAll: async () => true });
    for (let at = 0; at < 3; at++) record(first, sampleRow(`t${at}`, { createdAt: at }));
    await first.flush();
    await first.close();
    expect(await ids(open())).toEqual(["t2", "t1", "t0"]);
    expect(rebuilds).toBe(0);
  });

  it.each([
    ["it has not", async () => false],
    ["that cannot be told", () => Promise.reject(new Error("EIO"))],
  ])("is filled from the journals where %s", async (_, hasRecordedAll) => {
    journals.set("old", { row: sampleRow("old"), texts: [] });
    expect(await ids(open({ hasRecordedAll }))).toEqual(["old"]);
    expect(rebuilds).toBe(1);
  });

  it("is filled from the journals where it takes the place of one that broke", async () => {
    const index = open({ hasRecordedAll: async () => true });
    record(index, sampleRow("t1"));
    await index.flush();
    // Another host found it broken and has begun the next one.
    await writeFile(join(home, "threads.v5.1.sqlite"), "");
    expect(await ids(index)).toEqual(["t1"]);
    expect(rebuilds).toBe(1);
  });

  it("is not asked for where there is a file", async () => {
    await open().list(sampleQuery());
    const asked: string[] = [];
    await open({
      hasRecordedAll: async () => {
        asked.push("asked");
        return true;
      },
    }).list(sampleQuery());
    expect(asked).toEqual([]);
  });
});

describe("a rebuild", () => {
  beforeEach(() => {
    for (let n = 0; n < 250; n++) {
      const id = `t${String(n).padStart(3, "0")}`;
      journals.set(id, {
        row: sampleRow(id, { createdAt: n, seq: 5 }),
        texts: [sampleText("a", `word${n}`)],
      });
    }
  });
  const last = ["t249", "t248", "t247"];
  const top = sampleQuery({ limit: 3 });

  it("fills a missing file once", async () => {
    const index = open();
    expect(await ids(index, top)).toEqual(last);
    expect(await found(index, "word17")).toEqual(expect.arrayContaining([["t017", "word17"]]));
    await index.close();
    expect(await ids(open(), top)).toEqual(last);
    expect(rebuilds).toBe(1);
  });

  it("keeps what was recorded meanwhile, if it is newer", async () => {
    const index = open({
      async *rebuild() {
        index.record(sampleRow("t100", { createdAt: 100, seq: 6, thread: { name: "newer" } }), []);
        index.record(sampleRow("t101", { createdAt: 101, seq: 4, thread: { name: "older" } }), []);
        await index.flush();
        yield* allJournals();
      },
    });
    await index.list(top);
    expect((await index.get("t100"))?.thread.name).toBe("newer");
    expect((await index.get("t101"))?.thread.name).toBeNull();
  });

  it("does not bring back a thread that was deleted meanwhile", async () => {
    const index = open({
      async *rebuild() {
        yield* allJournals();
        await index.forget("t100");
        await index.forget("t249");
        yield journals.get("t249")!;
      },
    });
    expect(await ids(index, top)).toEqual(["t248", "t247", "t246"]);
    expect(await index.get("t100")).toBeUndefined();
  });

  it("that did not finish is done again by the next host", async () => {
    const failing = open({
      async *rebuild() {
        yield journals.get("t001")!;
        throw new Error("cannot read the journals");
      },
    });
    await expect(failing.list(top)).rejects.toThrow("cannot read the journals");
    await failing.close();
    expect(await ids(open(), top)).toEqual(last);
  });

  it("answers for a thread that is known without waiting", async () => {
    let go = (): void => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const index = open({
      async *rebuild() {
        await held;
        yield* allJournals();
      },
    });
    const listed = ids(index, top);
    index.record(sampleRow("new", { createdAt: 1000 }), []);
    expect((await index.get("new"))?.id).toBe("new");
    go();
    expect(await listed).toEqual(expect.arrayContaining(["t249"]));
    expect(await ids(index, sampleQuery({ limit: 1 }))).toEqual(["new"]);
  });

  it("takes the place of a file that is no database, and keeps that one aside", async () => {
    await writeFile(join(home, FIRST), "this is not a database ".repeat(1000));
    expect(await ids(open(), top)).toEqual(last);
    expect(await readdir(home)).toEqual(expect.arrayContaining([FIRST, "threads.v5.1.sqlite"]));
    await writeFile(join(home, "threads.v5.7.sqlite"), "this is not a database ".repeat(1000));
    expect(await ids(open(), top)).toEqual(last);
    const names = (await readdir(home)).filter((name) => name.endsWith(".sqlite"));
    expect(names.sort()).toEqual(["threads.v5.7.sqlite", "threads.v5.8.sqlite"]);
  });

  it("takes the place of a file whose pages turn out to be broken while it is used", async () => {
    const first = open();
    expect(await ids(first, top)).toEqual(last);
    await first.close();
    const bytes = await readFile(join(home, FIRST));
    const db = new DatabaseSync(join(home, FIRST), { readOnly: true });
    const sql = "SELECT rootpage FROM sqlite_master WHERE name = 'threads_created'";
    const { rootpage } = db.prepare(sql).get() as { rootpage: number };
    db.close();
    bytes.fill(0xa5, (rootpage - 1) * 4096, rootpage * 4096);
    await writeFile(join(home, FIRST), bytes);
    const index = open();
    expect(await ids(index, top)).toEqual(last);
    expect(await found(index, "word17")).toEqual(expect.arrayContaining([["t017", "word17"]]));
    expect(rebuilds).toBe(2);
    expect(said).toContain("the index is made anew from the journals");
    // Set aside, and not kept longer than what it has of people's words.
    expect(await readdir(home)).toContain(FIRST);
    await index.forget("t017");
    expect(await readdir(home)).not.toContain(FIRST);
    expect(await ids(index, top)).toEqual(last);
  });

  it("takes the place of a file of another version, and removes files of older ones", async () => {
    await writeFile(join(home, "threads.v0.sqlite"), "");
    const db = new DatabaseSync(join(home, FIRST));
    db.exec("CREATE TABLE other(x); PRAGMA user_version = 99");
    db.close();
    expect(await ids(open(), top)).toEqual(last);
    expect(await readdir(home)).not.toContain("threads.v0.sqlite");
  });

  it("goes to memory where no file can be made", async () => {
    await writeFile(join(home, "file"), "");
    expect(await ids(open({ path: join(home, "file", "threads.sqlite") }), top)).toEqual(last);
    expect(said).toContain("the index cannot be opened; until it can, it is kept in memory");
  });
});

describe("an index that cannot be written", () => {
  it("still answers from what it has, says so once, and catches up", async () => {
    const index = open();
    record(index, sampleRow("a", { createdAt: 1 }));
    expect(await ids(index)).toEqual(["a"]);
    const other = new DatabaseSync(join(home, FIRST));
    other.exec("CREATE TRIGGER full BEFORE INSERT ON threads BEGIN SELECT RAISE(ABORT, 'disk is full'); END");
    record(index, sampleRow("b", { createdAt: 2 }));
    expect(await ids(index)).toEqual(["a"]);
    expect(await ids(index)).toEqual(["a"]);
    await expect(index.flush()).rejects.toThrow("disk is full");
    const told = said.filter((words) => words.startsWith("the index cannot be written"));
    expect(told).toHaveLength(1);
    other.exec("DROP TRIGGER full");
    other.close();
    expect(await ids(index)).toEqual(["b", "a"]);
  });
});

describe("an index whose file cannot be opened", () => {
  const aside = () => join(home, "aside.sqlite");
  /** A folder in the file's place: nobody can open it, root neither. */
  const block = async () => {
    await rename(join(home, FIRST), aside());
    await mkdir(join(home, FIRST));
  };
  const unblock = async () => {
    await rmdir(join(home, FIRST));
    await rename(aside(), join(home, FIRST));
  };
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (cause: Fault) => cause.code,
    );

  beforeEach(async () => {
    const before = open();
    record(before, sampleRow("a", { createdAt: 1 }), sampleText("i1", "kept words", "turn1"));
    record(before, sampleRow("b", { createdAt: 2 }), sampleText("i2", "reverted words", "turn2"));
    expect(await ids(before)).toEqual(["b", "a"]);
    await before.close();
    await block();
  });

  it("answers from the journals, and neither is flushed nor forgets a thread", async () => {
    const index = open();
    record(index, sampleRow("c", { createdAt: 3 }));
    expect(await ids(index)).toEqual(["c", "b", "a"]);
    expect(await refusal(index.flush())).toBe("storageFailed");
    expect(await refusal(index.mustBeOnDisk())).toBe("storageFailed");
    expect(await refusal(index.forget("a"))).toBe("storageFailed");
    expect(await found(index, "kept")).toHaveLength(1);
    expect(said.filter((words) => /in memory/.test(words))).toHaveLength(1);
  });

  it("is on disk again when the file can be opened, with what happened in between", async () => {
    const index = open();
    record(index, sampleRow("c", { createdAt: 3 }));
    record(index, sampleRow("b", { createdAt: 2, seq: 9, thread: { name: "new name" } }));
    journals.set("b", { ...journals.get("b")!, texts: [], goneTurns: ["turn2"] });
    expect(await ids(index)).toEqual(["c", "b", "a"]);
    await unblock();
    await index.flush();
    await index.mustBeOnDisk();
    // Another host finds all of it, although nobody asked the first one for a list since.
    const other = open();
    expect(await ids(other)).toEqual(["c", "b", "a"]);
    expect((await other.get("b"))?.thread.name).toBe("new name");
    expect(await found(other, "reverted")).toEqual([]);
    expect(await found(other, "kept")).toHaveLength(1);
    expect(await ids(index)).toEqual(["c", "b", "a"]);
    await index.forget("a");
    expect(await ids(other)).toEqual(["c", "b"]);
  });

  it("is tried at once for whoever needs it on disk, and seldom for others", async () => {
    let opened = 0;
    const { list, ...files } = nodeFiles();
    const counting = {
      ...files,
      list: (folder: string) => {
        opened++;
        return list(folder);
      },
    };
    const index = open({ files: counting, clock: { now: () => 0, monotonic: () => 0 } });
    for (let times = 10; times > 0; times--) expect(await ids(index)).toEqual(["b", "a"]);
    expect(await refusal(index.flush())).toBe("storageFailed");
    expect(opened).toBe(1);
    await unblock();
    await index.mustBeOnDisk();
    await index.flush();
    await index.forget("a");
    expect(await ids(open())).toEqual(["b"]);
  });

  it("has nothing to flush as long as it was not used, and says after its end whether all was flushed", async () => {
    const index = open();
    await index.flush();
    expect(await ids(index)).toEqual(["b", "a"]);
    await index.close();
    expect(await refusal(index.flush())).toBe("storageFailed");
    await unblock();
    const next = open();
    record(next, sampleRow("c"));
    await next.close();
    await next.flush();
  });
});

describe("two hosts on one home", () => {
  it("see what the other one writes", async () => {
    const [one, two] = [open(), open()];
    record(one, sampleRow("a", { createdAt: 1 }));
    record(two, sampleRow("b", { createdAt: 2 }));
    await Promise.all([one.flush(), two.flush()]);
    expect(await ids(one)).toEqual(["b", "a"]);
    expect(await ids(two)).toEqual(["b", "a"]);
    await one.forget("a");
    expect(await ids(two)).toEqual(["b"]);
  });

  it("wait for each other's writes without holding up reads", async () => {
    const index = open();
    record(index, sampleRow("a", { createdAt: 1 }));
    expect(await ids(index)).toEqual(["a"]);
    const other = new DatabaseSync(join(home, FIRST));
    other.exec("BEGIN IMMEDIATE");
    expect(await ids(index)).toEqual(["a"]);
    record(index, sampleRow("b", { createdAt: 2 }));
    const listed = ids(index);
    setTimeout(() => other.exec("COMMIT"), 100);
    expect(await listed).toEqual(["b", "a"]);
    other.close();
  });

  it("can make the index at the same time", async () => {
    for (let n = 0; n < 300; n++) {
      const id = `t${String(n).padStart(3, "0")}`;
      journals.set(id, { row: sampleRow(id, { createdAt: n }), texts: [sampleText("a", "needle")] });
    }
    const [one, two] = [open(), open()];
    const query = sampleQuery({ limit: 300 });
    const [left, right] = await Promise.all([ids(one, query), ids(two, query)]);
    expect(left).toHaveLength(300);
    expect(right).toEqual(left);
    expect((await one.search(sampleSearch("needle", { limit: 300 }))).hits).toHaveLength(300);
  });

  it("go on together in a new file when one finds the old one broken", async () => {
    const [one, two] = [open(), open()];
    record(one, sampleRow("a", { createdAt: 1 }));
    expect(await ids(one)).toEqual(["a"]);
    expect(await ids(two)).toEqual(["a"]);
    // What a host does that finds the file broken, seen from the one that has not noticed.
    await writeFile(join(home, "threads.v5.1.sqlite"), "");
    const three = open();
    expect(await ids(three)).toEqual(["a"]);
    record(two, sampleRow("b", { createdAt: 2 }));
    expect(await ids(two)).toEqual(["b", "a"]);
    expect(await ids(three)).toEqual(["b", "a"]);
    expect(await ids(one)).toEqual(["b", "a"]);
  });
});
