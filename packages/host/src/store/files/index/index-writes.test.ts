import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sampleRow, sampleText } from "../../../../../../test/support/sample-rows.ts";
import { type Entry, IndexWrites } from "./index-writes.ts";
import { SCHEMA } from "./schema.ts";

let db: DatabaseSyncInstance;
let writes: IndexWrites;
beforeEach(() => {
  db = new DatabaseSync(":memory:");
  db.exec(SCHEMA);
  writes = new IndexWrites(db);
});
afterEach(() => db.close());

const all = (sql: string): readonly Record<string, unknown>[] =>
  db.prepare(sql).all() as unknown as readonly Record<string, unknown>[];
/** The texts of all threads, in the order of their keys. */
const texts = () => all("SELECT item, text FROM texts ORDER BY key").map(({ item, text }) => [item, text]);
const put = (row: Entry["row"], ...entry: readonly Entry["texts"][number][]) =>
  writes.put({ row, texts: entry });
/** A row without a preview, so that the tests see their own texts alone. */
const bare = (id: string, more: Parameters<typeof sampleRow>[1] = {}) =>
  sampleRow(id, { ...more, thread: { preview: "", ...more.thread } });

describe("the columns of a row", () => {
  it("are the fields that lists filter and sort by, with the whole row beside them", () => {
    const row = sampleRow("t", {
      owner: "subject:a",
      seq: 7,
      archived: true,
      createdAt: 1,
      updatedAt: 2,
      recencyAt: 3,
      sectionPosition: 4,
      sectionId: "s",
      parentThreadId: "p",
      thread: {
        source: "exec",
        modelProvider: "provider",
        originator: "client",
        cwd: "/a",
        name: "a name",
        preview: "a preview",
      },
    });
    put(row);
    expect(all("SELECT * FROM threads")).toEqual([
      {
        key: 1,
        id: "t",
        seq: 7,
        owner: "subject:a",
        archived: 1,
        shown: 1,
        interactive: 0,
        kind: "exec",
        created: 1,
        updated: 2,
        recency: 3,
        position: 4,
        section: "s",
        parent: "p",
        provider: "provider",
        originator: "client",
        cwd: "/a",
        name: "a name",
        preview: "a preview",
      },
    ]);
    expect(all("SELECT * FROM bodies")).toEqual([{ key: 1, row: JSON.stringify(row) }]);
  });

  it.each([
    ["listed", { listed: true }, { shown: 1 }],
    ["listed and ephemeral", { listed: true, thread: { ephemeral: true } }, { shown: 1 }],
    ["not listed", { listed: false }, { shown: 0 }],
    ["not listed and ephemeral", { listed: false, thread: { ephemeral: true } }, { shown: -1 }],
    ["not archived", {}, { archived: 0 }],
    ["of a person", {}, { interactive: 1, kind: "vscode" }],
    ["without a place in its section", {}, { position: -(2 ** 52), section: null, parent: null }],
  ] as const)("of a thread that is %s", (_, fields, columns) => {
    put(sampleRow("t", fields));
    expect(all("SELECT * FROM threads")).toMatchObject([columns]);
  });
});

describe("a row", () => {
  it("replaces one of the same or a lower number, and not one of a higher", () => {
    for (const [seq, name, wanted] of [
      [2, "two", "two"],
      [2, "also two", "also two"],
      [3, "three", "three"],
      [1, "one", "three"],
    ] as const) {
      put(bare("t", { seq, owner: name, thread: { name } }));
      expect(all("SELECT owner, name, key FROM threads")).toEqual([{ owner: wanted, name: wanted, key: 1 }]);
      const [body] = all("SELECT row FROM bodies");
      expect(JSON.parse(body!["row"] as string)).toMatchObject({ owner: wanted });
      expect(texts()).toEqual([[":name", wanted]]);
    }
    // Its texts are new all the same.
    put(bare("t", { seq: 1 }), sampleText("i", "late"));
    expect(texts()).toEqual([
      [":name", "three"],
      ["i", "late"],
    ]);
  });

  it("has its name and its preview among the texts, as they are now", () => {
    put(sampleRow("t", { thread: { name: null, preview: "first" } }));
    expect(all("SELECT * FROM texts")).toEqual([
      {
        key: 2 ** 21,
        item: ":preview",
        turn: "",
        kind: "other",
        place: 0,
        text: "first",
        folded: null,
        said: null,
      },
    ]);
    put(sampleRow("t", { thread: { name: "é", preview: "first" } }));
    expect(all("SELECT * FROM texts WHERE item = ':name'")).toEqual([
      {
        key: 2 ** 21 + 1,
        item: ":name",
        turn: "",
        kind: "other",
        place: 0,
        text: "é",
        folded: "e",
        said: null,
      },
    ]);
    put(sampleRow("t", { thread: { name: "b", preview: "second" } }));
    expect(texts()).toEqual([
      [":name", "b"],
      [":preview", "second"],
    ]);
    put(sampleRow("t", { thread: { name: null, preview: "" } }));
    expect(texts()).toEqual([]);
  });
});

describe("the texts of a thread", () => {
  it("have keys of their own, one after the other", () => {
    put(bare("a"), sampleText("i1", "one"), sampleText("i2", "two"));
    put(bare("b"), sampleText("i1", "other"));
    put(bare("a"), sampleText("i3", "three"));
    expect(all("SELECT key, item, text FROM texts ORDER BY key")).toEqual([
      { key: 2 ** 21, item: "i1", text: "one" },
      { key: 2 ** 21 + 1, item: "i2", text: "two" },
      { key: 2 ** 21 + 2, item: "i3", text: "three" },
      { key: 2 * 2 ** 21, item: "i1", text: "other" },
    ]);
  });

  it("are stored with all that a search needs, composed", () => {
    const text = {
      ...sampleText("i", "Cafe\u0301", "turn"),
      kind: "final",
      place: 9,
      said: "e\u0301",
    } as const;
    put(bare("t"), text);
    expect(all("SELECT item, turn, kind, place, text, folded, said FROM texts")).toEqual([
      { item: "i", turn: "turn", kind: "final", place: 9, text: "Café", folded: "Cafe", said: "é" },
    ]);
  });

  it("are replaced by the next text of their item, and stay where it is the same", () => {
    put(bare("t"), sampleText("i1", "one"), sampleText("i2", "two"));
    put(bare("t"), { ...sampleText("i1", "one"), place: 5 });
    expect(all("SELECT place FROM texts WHERE item = 'i1'")).toEqual([{ place: 0 }]);
    put(bare("t"), sampleText("i1", "new"));
    expect(texts()).toEqual([
      ["i2", "two"],
      ["i1", "new"],
    ]);
    put(bare("t"), sampleText("i1", ""));
    expect(texts()).toEqual([["i2", "two"]]);
  });

  it("go with their turn, in their own thread", () => {
    put(bare("a"), sampleText("i1", "kept", "t1"), sampleText("i2", "gone", "t2"));
    put(bare("b"), sampleText("i3", "other", "t2"));
    writes.put({ row: bare("a"), texts: [sampleText("i4", "also gone", "t3")], goneTurns: ["t2", "t3"] });
    expect(texts()).toEqual([
      ["i1", "kept"],
      ["i3", "other"],
    ]);
  });
});

describe("a thread that is forgotten", () => {
  it("leaves nothing, and others as they are", () => {
    put(bare("a"), sampleText("i1", "one"));
    put(bare("b"), sampleText("i2", "two"));
    writes.forget("unknown");
    writes.forget("a");
    expect(all("SELECT id FROM threads")).toEqual([{ id: "b" }]);
    expect(all("SELECT key FROM bodies")).toEqual([{ key: 2 }]);
    expect(texts()).toEqual([["i2", "two"]]);
    expect(all("SELECT * FROM forgotten")).toEqual([]);
  });

  it("stays out while the index is filled, without its id in the file", () => {
    writes.keepOut("a");
    writes.keepOut("a");
    put(bare("a"), sampleText("i1", "one"));
    put(bare("b"));
    expect(all("SELECT id FROM threads")).toEqual([{ id: "b" }]);
    expect(texts()).toEqual([]);
    const forgotten = all("SELECT id FROM forgotten");
    expect(forgotten).toHaveLength(1);
    expect(forgotten[0]!["id"]).toMatch(/^[\w-]{43}$/);
  });
});
