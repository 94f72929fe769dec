import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, it } from "vitest";
import { sampleQuery, sampleRow } from "../../../../../../test/support/sample-rows.ts";
import type { ThreadQuery } from "../../thread-index.ts";
import { IndexFile } from "./index-file.ts";
import { listStatement } from "./list-query.ts";

describe("each filter of a list", () => {
  const rows = [
    sampleRow("a", { createdAt: 1 }),
    sampleRow("b", { createdAt: 2, archived: true }),
    sampleRow("c", { createdAt: 3, owner: "subject:a" }),
    sampleRow("d", { createdAt: 4, thread: { modelProvider: "other" } }),
    sampleRow("e", { createdAt: 5, thread: { originator: "client" } }),
    sampleRow("f", { createdAt: 6, thread: { cwd: "/b" } }),
    sampleRow("g", { createdAt: 7, thread: { source: "exec" } }),
    sampleRow("h", { createdAt: 8, listed: false, parentThreadId: "a", sectionId: "s1", sectionPosition: 2 }),
    sampleRow("i", { createdAt: 9, parentThreadId: "h", sectionId: "s2" }),
    sampleRow("j", { createdAt: 10, sectionId: "s1", sectionPosition: 1, thread: { name: "Needle" } }),
    sampleRow("k", { createdAt: 11, listed: false, sectionId: "s1", thread: { ephemeral: true } }),
  ];
  function filled(): IndexFile {
    const store = new IndexFile(DatabaseSync, ":memory:");
    store.write(rows.map((row) => ({ row, texts: [] })));
    return store;
  }
  const folders = (count: number) => Array.from({ length: count }, (_, at) => `/other/${at}`);

  it.each<[string, Partial<ThreadQuery>, string]>([
    ["none", {}, "acdefij"],
    ["the archive", { archived: true }, "b"],
    ["an owner", { owner: "subject:a" }, "c"],
    ["the machine's own", { owner: "local" }, "adefij"],
    ["a provider", { modelProviders: ["other", "unknown"] }, "d"],
    ["no provider", { modelProviders: [] }, "acdefij"],
    ["a client", { originators: ["client"] }, "e"],
    ["no client", { originators: [] }, "acdefij"],
    ["threads to leave out", { excludedThreadIds: ["a", "f"] }, "cdeij"],
    ["none to leave out", { excludedThreadIds: [] }, "acdefij"],
    ["folders", { cwds: ["/b", "/b", "/none"] }, "f"],
    ["folders of an owner", { cwds: ["/b"], owner: "subject:a" }, ""],
    ["sixteen folders", { cwds: ["/b", ...folders(15)] }, "f"],
    ["seventeen folders", { cwds: ["/b", ...folders(16)] }, "f"],
    ["no folder", { cwds: [] }, ""],
    ["programs", { sourceKinds: ["exec"] }, "g"],
    ["programs and people", { sourceKinds: ["exec", "vscode"] }, "acdefgij"],
    ["a word of the name", { searchTerm: "eedl" }, "j"],
    ["a word of the preview", { searchTerm: "preview of d" }, "d"],
    ["children", { parentThreadId: "a" }, "h"],
    ["descendants", { ancestorThreadId: "a" }, "hi"],
    ["descendants of one kind", { ancestorThreadId: "a", sourceKinds: ["exec"] }, ""],
    ["a section", { sectionId: "s1" }, "hj"],
    ["a section by position", { sectionId: "s1", sortKey: "section_position" }, "jh"],
    ["a section that exists", { sectionId: "s1", knownSections: ["s1"] }, "hj"],
    ["a section that was deleted", { sectionId: "s1", knownSections: ["s2"] }, ""],
    ["no section", { sectionId: null }, "acdef"],
    ["no section that exists", { sectionId: null, knownSections: ["s1"] }, "acdefi"],
    ["every position", { sortKey: "section_position" }, "acdefij"],
  ])("%s", (_, fields, ids) => {
    const store = filled();
    const listed = (query: ThreadQuery) =>
      store
        .list(query)
        .rows.map(({ id }) => id)
        .join("");
    const query = sampleQuery({ sortDirection: "asc", ...fields });
    expect(listed(query)).toBe(ids);
    const backwards = ids.split("").toReversed().join("");
    expect(listed({ ...query, sortDirection: "desc" })).toBe(backwards);
    store.close();
  });

  it("reads up to sixteen folders from their own index", () => {
    const indexOf = (count: number) =>
      /INDEXED BY (\w+)/.exec(listStatement(sampleQuery({ cwds: folders(count) })).sql)?.[1];
    expect([0, 1, 16, 17].map(indexOf)).toEqual([
      "threads_created",
      "threads_cwd_created",
      "threads_cwd_created",
      "threads_created",
    ]);
  });

  it.each([
    [0, 1],
    [-3, 1],
    [1, 1],
    [2.9, 2],
    [100, 7],
  ])("a page of %d has %i rows", (limit, count) => {
    const store = filled();
    const page = store.list(sampleQuery({ limit }));
    expect(page.rows).toHaveLength(count);
    expect(page.nextCursor === null).toBe(count === 7);
    store.close();
  });
});
