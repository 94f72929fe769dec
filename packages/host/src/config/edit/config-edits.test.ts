import { describe, expect, it } from "vitest";
import { changed, isWritable, keysOf } from "./config-edits.ts";

describe("a key path", () => {
  it.each([
    ["model", ["model"]],
    ["a.b.c", ["a", "b", "c"]],
    ["plugins.sample@catalog", ["plugins", "sample@catalog"]],
    ['hooks.state."/a/b.toml:0".enabled', ["hooks", "state", "/a/b.toml:0", "enabled"]],
    ['"a\\"b\\\\c".d', ['a"b\\c', "d"]],
  ])("%s names keys", (path, keys) => {
    expect(keysOf(path)).toEqual(keys);
  });

  it.each([
    ["", "keyPath must not be empty"],
    [" ", "keyPath must not be empty"],
    ["a..b", "keyPath segments must not be empty"],
    [".a", "keyPath segments must not be empty"],
    ["a.", "keyPath segments must not be empty"],
    ['a."b', "unterminated quoted keyPath segment"],
    ['a"b"', "invalid quoted keyPath segment"],
    ['"a"b', "invalid quoted keyPath segment"],
  ])("%j is none", (path, problem) => {
    expect(keysOf(path)).toBe(problem);
  });
});

describe("a change", () => {
  const table = { a: 1, t: { x: 1, y: { z: 2 } } };
  const change = (path: string[], value: unknown, mergeStrategy: "replace" | "upsert" = "replace") =>
    changed(table, { path, value, mergeStrategy });

  it("sets a value, makes tables on its way, and leaves the rest", () => {
    expect(change(["a"], 2)).toEqual({ ...table, a: 2 });
    expect(change(["n", "m"], true)).toEqual({ ...table, n: { m: true } });
    expect(change(["a", "m"], true)).toEqual({ ...table, a: { m: true } });
  });

  it("replaces a table or merges into it", () => {
    expect(change(["t"], { y: { w: 1 } })).toEqual({ a: 1, t: { y: { w: 1 } } });
    expect(change(["t"], { y: { w: 1 } }, "upsert")).toEqual({ a: 1, t: { x: 1, y: { z: 2, w: 1 } } });
    expect(change(["a"], { w: 1 }, "upsert")).toEqual({ ...table, a: { w: 1 } });
  });

  it("takes a value out, and makes nothing for that", () => {
    expect(change(["t", "y", "z"], null)).toEqual({ a: 1, t: { x: 1, y: {} } });
    expect(change(["none", "at", "all"], null)).toBe(table);
    expect(change(["a", "b"], null)).toBe(table);
  });

  it("takes every key for a key", () => {
    const after = change(["__proto__", "polluted"], true);
    expect(Object.keys(after)).toContain("__proto__");
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("has no null within it", () => {
    expect([isWritable({ a: [1, "b"] }), isWritable({ a: [null] }), isWritable(null)]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
