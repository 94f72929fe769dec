import { stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { beforeEach, describe, expect, it } from "vitest";
import { freshFolder } from "../../../../../../test/support/folder.ts";
import {
  sampleQuery,
  sampleRow,
  sampleSearch,
  sampleText,
} from "../../../../../../test/support/sample-rows.ts";
import type { ThreadRow } from "../../thread-index.ts";
import { IndexFile, isBroken, isBusy } from "./index-file.ts";

let path: string;
beforeEach(async () => {
  path = join(await freshFolder("index"), "threads.sqlite");
});

/** Works on a new index in memory. */
function inMemory(work: (store: IndexFile) => void): void {
  const store = new IndexFile(DatabaseSync, ":memory:");
  work(store);
  store.close();
}
const entry = (id: string, ...texts: readonly string[]) => ({
  row: sampleRow(id),
  texts: texts.map((text) => sampleText(text, text)),
});
const unfit = (id: string) => ({ row: { ...sampleRow(id), createdAt: {} as never }, texts: [] });
const ids = (store: IndexFile) => store.known(0, 100).map(({ id }) => id);
const thrown = (work: () => unknown): unknown => {
  try {
    work();
  } catch (cause) {
    return cause;
  }
  throw new Error("nothing was thrown");
};

describe("opening", () => {
  class ReadOnly extends DatabaseSync {
    constructor(path: string) {
      super(path, { readOnly: true });
    }
  }

  it("refuses a file that it can read and cannot write when it opens the file, not at the first write", () => {
    new IndexFile(DatabaseSync, path).close();
    expect(() => new IndexFile(ReadOnly, path)).toThrow(/readonly/);
    // The refusal has left the file as it was, and open to others.
    const again = new IndexFile(DatabaseSync, path);
    expect(again.complete).toBe(false);
    again.close();
  });

  it("closes a file of another version, which counts as broken", () => {
    const db = new DatabaseSync(path);
    db.exec("PRAGMA user_version = 99");
    db.close();
    let closed = 0;
    class Counted extends DatabaseSync {
      override close(): void {
        closed++;
        super.close();
      }
    }
    const cause = thrown(() => new IndexFile(Counted, path));
    expect([isBroken(cause), isBusy(cause), closed]).toEqual([true, false, 1]);
    expect((cause as Error).message).toBe("index version 99");
  });

  it("creates a file with a log of its own, in which others can read while it is written", async () => {
    const store = new IndexFile(DatabaseSync, path);
    const reader = new DatabaseSync(path);
    reader.exec("BEGIN; SELECT * FROM threads");
    store.write([entry("a")]);
    expect(reader.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    expect(ids(store)).toEqual(["a"]);
    reader.exec("COMMIT");
    reader.close();
    store.close();
    expect((await stat(path)).size % 4096).toBe(0);
  });

  it("gives way to a host that creates the same file", () => {
    let others = 0;
    class Slower extends DatabaseSync {
      override exec(sql: string): void {
        if (sql === "BEGIN IMMEDIATE" && others++ === 0) {
          const first = new IndexFile(DatabaseSync, path);
          first.write([entry("theirs")]);
          first.close();
        }
        super.exec(sql);
      }
    }
    const store = new IndexFile(Slower, path);
    expect(ids(store)).toEqual(["theirs"]);
    store.close();
  });

  it("says how large the file is", async () => {
    const store = new IndexFile(DatabaseSync, path);
    store.write([entry("a", "x".repeat(100_000))]);
    const { bytes } = store;
    store.close();
    expect(bytes).toBe((await stat(path)).size);
    expect(bytes).toBeGreaterThan(100_000);
  });
});

describe("closing", () => {
  it.each([
    ["empties the log", false],
    ["leaves the log of a broken file", true],
  ])("%s, and can be done twice", async (_, broken) => {
    const store = new IndexFile(DatabaseSync, path);
    // Without another one that has the file open, SQLite would remove the log by itself.
    const other = new DatabaseSync(path);
    other.prepare("SELECT count(*) FROM meta").get();
    store.write([entry("a")]);
    if (broken) store.close(true);
    else store.close();
    expect((await stat(`${path}-wal`)).size > 0).toBe(broken);
    store.close(broken);
    expect(() => store.complete).toThrow();
    other.close();
  });
});

describe("completeness", () => {
  it("is what was said last, and stays in the file", () => {
    const store = new IndexFile(DatabaseSync, path);
    expect(store.complete).toBe(false);
    store.finish();
    expect(store.complete).toBe(true);
    store.close();
    const again = new IndexFile(DatabaseSync, path);
    expect(again.complete).toBe(true);
    again.restart();
    expect(again.complete).toBe(false);
    again.close();
  });

  it("decides whether a forgotten thread may come back", () => {
    inMemory((store) => {
      store.write([entry("a", "one"), entry("b")]);
      store.forget("a");
      store.write([entry("a", "one")]);
      expect(ids(store)).toEqual(["b"]);
      store.finish();
      store.write([entry("a", "one")]);
      expect(ids(store).sort()).toEqual(["a", "b"]);
      store.forget("a");
      store.write([entry("a")]);
      expect(ids(store).sort()).toEqual(["a", "b"]);
    });
  });
});

describe("writing", () => {
  it("leaves out entries that cannot be written, and names them", () => {
    inMemory((store) => {
      expect(store.write([])).toEqual([]);
      expect(store.write([entry("a"), entry("b")])).toEqual([]);
      const left = store.write([entry("c"), unfit("d"), entry("e"), unfit("f")]);
      expect(left.map(({ threadId }) => threadId)).toEqual(["d", "f"]);
      expect(left[0]!.cause).toBeInstanceOf(TypeError);
      expect(store.write([unfit("g")])).toMatchObject([{ threadId: "g" }]);
      expect(ids(store)).toEqual(["a", "b", "c", "e"]);
    });
  });

  it("writes all or nothing where the file refuses, and goes on afterwards", () => {
    const store = new IndexFile(DatabaseSync, path);
    const other = new DatabaseSync(path);
    other.exec(
      "CREATE TRIGGER full BEFORE INSERT ON threads WHEN NEW.id = 'b' BEGIN SELECT RAISE(ABORT, 'disk is full'); END",
    );
    expect(() => store.write([entry("a"), entry("b")])).toThrow("disk is full");
    expect(ids(store)).toEqual([]);
    other.exec("DROP TRIGGER full");
    other.close();
    store.write([entry("a"), entry("b")]);
    expect(ids(store)).toEqual(["a", "b"]);
    store.close();
  });

  it("throws that the file is locked while another process writes", () => {
    const store = new IndexFile(DatabaseSync, path);
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    expect(isBusy(thrown(() => store.write([entry("a")])))).toBe(true);
    other.exec("COMMIT");
    store.write([entry("a")]);
    // A reader may keep the log from being emptied when a thread is forgotten.
    other.exec("BEGIN; SELECT * FROM threads");
    expect(isBusy(thrown(() => store.forget("a")))).toBe(true);
    other.exec("COMMIT");
    store.forget("a");
    expect(ids(store)).toEqual([]);
    other.close();
    store.close();
  });

  it("replaces a thread as a whole, also one with a higher number", () => {
    inMemory((store) => {
      store.write([{ row: sampleRow("a", { seq: 9 }), texts: [sampleText("i", "old words")] }]);
      store.replace({ row: sampleRow("a", { seq: 2 }), texts: [sampleText("j", "new words")] });
      expect(store.get("a")?.seq).toBe(2);
      const found = (term: string) => store.search(sampleSearch(term)).hits.map(({ row }) => row.id);
      expect([found("old"), found("new")]).toEqual([[], ["a"]]);
    });
  });
});

describe("reading", () => {
  const rows: readonly ThreadRow[] = [
    sampleRow("a", { seq: 3, archived: true }),
    sampleRow("b", { createdAt: 5 }),
    sampleRow("c", { createdAt: 6 }),
  ];
  const filled = (work: (store: IndexFile) => void) =>
    inMemory((store) => {
      store.write(rows.map((row) => ({ row, texts: [{ ...sampleText("i", "needle"), place: 4 }] })));
      work(store);
    });

  it("gives rows by their id, and threads in the order of their keys", () => {
    filled((store) => {
      expect([store.get("b"), store.get("none")]).toEqual([rows[1], undefined]);
      expect(store.known(0, 2)).toEqual([
        { key: 1, id: "a", seq: 3, archived: true },
        { key: 2, id: "b", seq: 1, archived: false },
      ]);
      expect(store.known(2, 2).map(({ id }) => id)).toEqual(["c"]);
      expect(store.known(3, 2)).toEqual([]);
    });
  });

  it("gives pages of lists and of hits, with cursors", () => {
    filled((store) => {
      const list = store.list(sampleQuery({ limit: 1 }));
      expect(list).toMatchObject({ rows: [rows[2]], nextCursor: expect.any(String) as string });
      const rest = store.list(sampleQuery({ limit: 1, cursor: list.nextCursor! }));
      expect(rest).toMatchObject({ rows: [rows[1]], nextCursor: null });
      const hits = store.search(sampleSearch("needle", { limit: 1 }));
      expect(hits).toMatchObject({
        hits: [{ row: rows[2], snippet: "needle" }],
        nextCursor: list.nextCursor,
        backwardsCursor: list.backwardsCursor,
      });
      const none = { hits: [], nextCursor: null, backwardsCursor: null };
      expect([store.search(sampleSearch(" ")), store.search(sampleSearch("nothing"))]).toEqual([none, none]);
    });
  });

  it("gives the occurrences in one thread", () => {
    filled((store) => {
      const query = { searchTerm: "ee", from: { place: 0, nth: 0 }, limit: 5, runningTurn: null };
      const plain = (answer: string) => answer;
      const { found, next } = store.occurrences({ ...query, threadId: "b" }, plain);
      expect(found).toMatchObject([{ itemId: "i", place: 4, nth: 0, snippet: "needle", start: 1, end: 3 }]);
      expect(next).toBeNull();
      expect(store.occurrences({ ...query, threadId: "none" }, plain).found).toEqual([]);
    });
  });
});

describe("an error of SQLite", () => {
  const error = (fields: object, message = "") =>
    Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR" }, fields);
  it.each([
    [error({}, "database is locked"), "busy"],
    [error({}, "database table is locked"), "busy"],
    [error({}, "database schema is locked"), "busy"],
    [error({ errcode: 5 }), "busy"],
    [error({ errcode: 6 }), "busy"],
    [error({ errcode: 261 }), "busy"],
    [error({ errcode: 11 }), "broken"],
    [error({ errcode: 26 }), "broken"],
    [error({ errcode: 267 }), "broken"],
    [error({}, "database disk image is malformed"), "broken"],
    [error({}, "file is not a database"), "broken"],
    [error({}, "malformed database schema (x)"), "broken"],
    [error({}, "no such table: threads"), "broken"],
    [error({ errcode: 13 }, "database or disk is full"), "neither"],
    [error({ message: undefined }), "neither"],
    [new Error("database is locked"), "neither"],
    [Object.assign(new Error("file is not a database"), { code: "EIO", errcode: 26 }), "neither"],
    ["database is locked", "neither"],
  ] as const)("%s is %s", (cause, kind) => {
    expect([isBusy(cause), isBroken(cause)]).toEqual([kind === "busy", kind === "broken"]);
  });
});
