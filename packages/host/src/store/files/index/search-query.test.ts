import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, it } from "vitest";
import { sampleRow, sampleSearch, sampleText } from "../../../../../../test/support/sample-rows.ts";
import type { ThreadQuery, ThreadRow } from "../../thread-index.ts";
import { IndexFile } from "./index-file.ts";
import { snippetOf, wordsOf } from "./search-query.ts";

describe("the words of a search", () => {
  it("are what stands between spaces and control characters, folded", () => {
    expect(wordsOf("")).toEqual([]);
    expect(wordsOf(" \t\n\u0000 ")).toEqual([]);
    expect(wordsOf("  One\u0000two\n Dre\u0301i ")).toEqual(["One", "two", "Drei"]);
  });

  it("are sixteen at most, each of 500 letters at most", () => {
    const words = Array.from({ length: 17 }, (_, at) => `w${at}`);
    expect(wordsOf(words.join(" "))).toEqual(words.slice(0, 16));
    expect(wordsOf(`${"x".repeat(501)} ${"é".repeat(501)}`)).toEqual(["x".repeat(500), "e".repeat(500)]);
  });
});

describe("a search", () => {
  const rows: readonly ThreadRow[] = [
    sampleRow("plain"),
    sampleRow("program", { thread: { source: "exec" } }),
    sampleRow("archived", { archived: true }),
    sampleRow("theirs", { owner: "subject:a" }),
    sampleRow("elsewhere", { thread: { cwd: "/b" } }),
    sampleRow("child", { parentThreadId: "plain", thread: { source: "exec" } }),
    sampleRow("grandchild", { parentThreadId: "child" }),
    sampleRow("unlisted", { listed: false }),
    sampleRow("placed", { sectionId: "s" }),
    // A circle, as no host makes it.
    sampleRow("loop", { parentThreadId: "loop" }),
  ];
  const found = (fields: Partial<ThreadQuery>): readonly string[] => {
    const store = new IndexFile(DatabaseSync, ":memory:");
    store.write(rows.map((row) => ({ row, texts: [sampleText("i", "a needle")] })));
    try {
      return store
        .search(sampleSearch("needle", { sortDirection: "asc", ...fields }))
        .hits.map(({ row }) => row.id);
    } finally {
      store.close();
    }
  };
  const people = ["elsewhere", "grandchild", "loop", "placed", "plain", "theirs"];

  it.each([
    ["finds the threads of people by default", {}, people],
    ["ignores an empty list of kinds", { sourceKinds: [] }, people],
    ["finds threads of the kinds that are asked for", { sourceKinds: ["exec"] }, ["child", "program"]],
    [
      "finds kinds of both sorts",
      { sourceKinds: ["exec", "vscode"] },
      ["child", ...people.slice(0, 5), "program", "theirs"],
    ],
    ["finds archived threads", { archived: true }, ["archived"]],
    ["finds the threads of an owner", { owner: "subject:a" }, ["theirs"]],
    ["finds the threads of folders", { cwds: ["/b", "/z"] }, ["elsewhere"]],
    ["finds nothing in no folder", { cwds: [] }, []],
    ["finds children of every kind", { parentThreadId: "plain" }, ["child"]],
    ["finds children of one kind", { parentThreadId: "plain", sourceKinds: ["vscode"] }, []],
    ["finds descendants of every kind", { ancestorThreadId: "plain" }, ["child", "grandchild"]],
    ["finds descendants of one kind", { ancestorThreadId: "plain", sourceKinds: ["vscode"] }, ["grandchild"]],
    ["does not take a thread for its own descendant", { ancestorThreadId: "loop" }, []],
    ["finds the threads of a section", { sectionId: "s" }, ["placed"]],
  ] as const)("%s", (_, fields, ids) => {
    expect(found(fields)).toEqual(ids);
  });
});

describe("a snippet", () => {
  const of = (text: string, word = "needle", lookedAt = text): string => snippetOf(text, lookedAt, [word]);
  const x = (count: number): string => "x".repeat(count);

  it("is a short text as a whole, in one line", () => {
    expect(of("  a \n\n NEEDLE\u0007in   hay ")).toBe("a NEEDLE in hay");
  });

  it("begins 120 letters before the match, and says that there are more", () => {
    expect(of(`${x(120)}needle`)).toBe(`${x(120)}needle`);
    expect(of(`${x(121)}needle`)).toBe(`…${x(120)}needle`);
    expect(of(`${x(241)}needle`)).toBe(`…${x(120)}needle`);
    // Spaces fill what is looked at; there is more before them.
    expect(of(`far${" ".repeat(240)}needle`)).toBe("…needle");
    expect(of(`far${" ".repeat(237)}needle`)).toBe("far needle");
  });

  it("ends after 360 letters, and says that there are more", () => {
    expect(of(`needle${x(354)}`)).toBe(`needle${x(354)}`);
    expect(of(`needle${x(355)}`)).toBe(`needle${x(354)}…`);
    expect(of(`${x(200)}needle${x(400)}`)).toBe(`…${x(120)}needle${x(234)}…`);
    expect(of(`needle${" ".repeat(714)}`)).toBe("needle");
    expect(of(`needle${" ".repeat(715)}`)).toBe("needle…");
  });

  it("has no half of a letter at its ends", () => {
    expect(of(`needle ${x(352)}😀😀`)).toBe(`needle ${x(352)}…`);
    expect(of(`😀${x(119)}needle`)).toBe(`…${x(119)}needle`);
  });

  it("shows the text as it is written, around the match in its folded form", () => {
    expect(of(`${x(130)}Nadél ende`, "nadel", `${x(130)}nadel ende`)).toBe(`…${x(120)}Nadél ende`);
    expect(of("a text", "other")).toBe("a text");
    // Letters that get longer in lower case leave no place that both texts share.
    expect(of(`${x(130)}needle İ`)).toBe(`${x(130)}needle İ`);
  });
});
