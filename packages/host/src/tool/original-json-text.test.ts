import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exactJson } from "./original-json-text.ts";

const exact = (text: string) => exactJson(text, JSON.parse(text));

describe("JSON that keeps its numbers", () => {
  it.each([
    ['{"id":1234567890123456789}'],
    ['{"id":[-9007199254740993]}'],
    ['{"price":1.0}'],
    ['{"size":1e400}'],
    ['{"zero":-0}'],
    ['{"pi":3.14159265358979323846264338327950288}'],
    ['{"a\\\\":"\\"1.0\\"","b":12345678901234567890}'],
    ['{"2":1,"1":1.50}'],
  ])("is the text itself where parsing would change a number: %s", (text) => {
    expect(exact(text)).toBe(text);
  });

  it.each([
    ['{"id":9007199254740991}'],
    ['{"id":"1234567890123456789"}'],
    ['{"at":"2024-01-01T00:00:00.000Z","n":-1.5}'],
    ['{ "city" : "Bern" , "days" : 3 }'],
    ['{"2":1.5,"1":2}'],
    ["[]"],
  ])("is left to JSON.stringify where that says the same: %s", (text) => {
    expect(exact(text)).toBeUndefined();
  });

  it("is on one line", () => {
    expect(exact('{\r\n  "id": 1234567890123456789,\n  "s": "a\\nb"\n}')).toBe(
      '{    "id": 1234567890123456789,   "s": "a\\nb" }',
    );
  });

  it("has each key once, with the value that was parsed: who reads it could take the other one", () => {
    expect(exact('{"id":1234567890123456789,"id":1}')).toBeUndefined();
    expect(exact('{"id":1,"id":1234567890123456789}')).toBe('{"id":1234567890123456789}');
    expect(exact('{"a":{"id":1.0,"\\u0069d" : 2.0 }, "b":[1e3,{"x":",}","x":null}]}')).toBe(
      '{"a":{"id":2.0},"b":[1e3,{"x":null}]}',
    );
  });

  it("parses to the same value with repeated keys, and keeps the numbers", () => {
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom("1.0", "12345678901234567890", '"a,b"', "null"),
        tie("list"),
        tie("object"),
      ),
      list: fc.array(tie("value")).map((items) => `[${items.join(" , ")}]`),
      object: fc
        .array(fc.tuple(fc.constantFrom('"a"', '"b"', '"__proto__"'), tie("value")))
        .map((members) => `{ ${members.map((pair) => pair.join(" : ")).join(",")} }`),
    }));
    fc.assert(
      fc.property(json.object as fc.Arbitrary<string>, (text) => {
        const kept = exact(text);
        if (kept !== undefined) expect(JSON.parse(kept)).toEqual(JSON.parse(text));
      }),
    );
  });

  it("is not used where it has half of a surrogate pair", () => {
    expect(exactJson('{"id":1.0,"s":"\ud800"}', { id: 1, s: "\ud800" })).toBeUndefined();
  });

  it("parses to the same value, whatever was written", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, "\t"), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const kept = exactJson(text, JSON.parse(text));
        if (kept !== undefined) expect(JSON.parse(kept)).toEqual(JSON.parse(text));
      }),
    );
  });
});
