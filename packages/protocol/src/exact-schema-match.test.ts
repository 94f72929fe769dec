import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { conforms } from "./exact-schema-match.ts";
import { check } from "./schema-check.ts";
import {
  array,
  boolean,
  enumeration,
  inline,
  integer,
  nullable,
  number,
  omittable,
  optional,
  record,
  refused,
  type Schema,
  string,
  tagged,
  union,
  unknown,
} from "./schema-language.ts";

const KIND = enumeration("", ["plainText", "other"]);
const NODE: Schema<unknown> = inline(() => ({ name: string({ minLength: 1 }), below: array(NODE) }));
const SCHEMA = inline(() => ({
  id: string(),
  kind: KIND,
  done: boolean(),
  size: number(),
  count: integer("uint16"),
  maybe: nullable(string()),
  absent: omittable(string()),
  either: optional(integer()),
  map: record(boolean()),
  tree: NODE,
  free: unknown(),
  part: tagged("", "type", () => ({ a: { x: string() }, b: [{ y: string() }, { z: integer() }] })),
  any: union("", () => [string(), array(KIND), inline(() => ({ type: refused(), text: string() }))]),
}));
const GOOD = {
  id: "1",
  kind: "plainText",
  done: true,
  size: 1.5,
  count: 7,
  maybe: null,
  either: null,
  map: { a: true },
  tree: { name: "root", below: [{ name: "leaf", below: [] }] },
  free: { deep: [1] },
  part: { type: "b", z: 3 },
  any: { text: "x" },
};

const accepts = (value: unknown): boolean => conforms(SCHEMA, value);

describe("conforms", () => {
  it("accepts values that match the schema", () => {
    expect(accepts(GOOD)).toBe(true);
    expect(accepts({ ...GOOD, absent: "here", any: ["other"], part: { type: "a", x: "" } })).toBe(true);
  });

  it("accepts neither other spellings nor null for a key that may only be absent", () => {
    expect(accepts({ ...GOOD, kind: "plain_text" })).toBe(false);
    expect(accepts({ ...GOOD, absent: null })).toBe(false);
    expect(accepts({ ...GOOD, part: { type: "B", z: 3 } })).toBe(false);
  });

  it("accepts keys that the schema does not name", () => {
    const value = { ...GOOD, more: 1 };
    expect(accepts(value)).toBe(true);
    expect(value.more).toBe(1);
  });

  it("does not read inherited properties", () => {
    expect(accepts({ ...GOOD, part: { type: "constructor" } })).toBe(false);
    expect(accepts({ ...GOOD, map: JSON.parse('{"__proto__":1}') })).toBe(false);
  });

  it("accepts what `check` accepts unchanged, and nothing that `check` refuses", () => {
    const other = fc.oneof(
      fc.constantFrom<unknown>(null, "", "a", "plain_text", 0, -1, 1.5, 70_000, true, [], {}, [null], {
        type: "a",
      }),
      fc.jsonValue({ maxDepth: 2 }),
    );
    const edit = fc.tuple(
      fc.array(fc.nat({ max: 12 }), { maxLength: 4 }),
      fc.option(other, { nil: undefined }),
    );
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 3 }), (edits) => {
        const value: unknown = edits.reduce(
          (before, [path, to]) => edited(before, path, to),
          GOOD as unknown,
        );
        const read: unknown = structuredClone(value);
        const fine = check(SCHEMA, read, { experimental: true, method: "" }) === undefined;
        if (accepts(value)) expect(fine).toBe(true);
        else if (fine) expect(read).not.toEqual(value);
      }),
      { numRuns: 2000 },
    );
  });
});

/** A copy with another value, or without one, at the position that the numbers select. */
function edited(value: unknown, [nth, ...deeper]: readonly number[], to: unknown): unknown {
  if (nth === undefined || typeof value !== "object" || value === null) return to;
  const copy: Record<string, unknown> = Array.isArray(value) ? ([...value] as never) : { ...value };
  const keys = Object.keys(copy);
  const key = keys[nth % Math.max(1, keys.length)];
  if (key === undefined) return to;
  if (deeper.length === 0 && to === undefined) delete copy[key];
  else copy[key] = edited(copy[key], deeper, to ?? null);
  return copy;
}
