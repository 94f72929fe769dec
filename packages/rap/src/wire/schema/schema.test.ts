import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { argumentsCheck } from "./arguments-check.ts";
import { compilePattern } from "./pattern-matcher.ts";
import { TooMuchWork, WorkBudget } from "./work-budget.ts";

type Schema = Parameters<typeof argumentsCheck>[0];
const D4 = { $schema: "http://json-schema.org/draft-04/schema#" };
const D7 = { $schema: "http://json-schema.org/draft-07/schema#" };

/** The problem that a schema of the argument `a` reports for a value. */
const says = (schema: Schema, a: unknown): string | undefined =>
  argumentsCheck({ type: "object", properties: { a: schema } })({ a });

describe("a value", () => {
  const POINT = { properties: { x: { type: "number" } }, required: ["x"] };
  it.each<[Schema, unknown, unknown]>([
    [{ type: ["string", "null"] }, null, 1],
    [{ type: "integer" }, 2.0, 2.5],
    [{ const: { x: 1, y: [2] } }, { y: [2], x: 1 }, { y: [2], x: "1" }],
    [{ enum: ["1", 2] }, 2, 1],
    [{ minLength: 2, maxLength: 2 }, "🧵🧵", "🧵"],
    [{ pattern: "b+" }, "abc", "ac"],
    [{ format: "date" }, "2024-02-29", "2023-02-29"],
    [{ format: "date-time" }, "2024-02-29T12:00:00Z", "2024-02-29 noon"],
    [{ format: "ipv6" }, "::1", "::x"],
    [{ format: "uri" }, "mailto:a@b", "no uri"],
    [{ format: "our-own" }, "anything", undefined],
    [{ minimum: 1, exclusiveMaximum: 2 }, 1, 2],
    [{ multipleOf: 0.1 }, 0.3, 0.35],
    [{ items: { type: "string" }, minItems: 1 }, ["a"], [1]],
    [{ prefixItems: [{ type: "string" }], items: false }, ["a"], ["a", 1]],
    [{ contains: { type: "string" }, maxContains: 1 }, [1, "a"], ["a", "b"]],
    [
      { uniqueItems: true },
      [{ x: 1 }, { x: 2 }],
      [
        { x: 1, y: 2 },
        { y: 2, x: 1 },
      ],
    ],
    [{ ...POINT, additionalProperties: false }, { x: 1 }, { x: 1, y: 1 }],
    [{ patternProperties: { "^x": { type: "string" } } }, { xy: "", y: 1 }, { xy: 1 }],
    [{ propertyNames: { maxLength: 1 } }, { x: 1 }, { xy: 1 }],
    [{ dependentRequired: { x: ["y"] } }, { y: 1 }, { x: 1 }],
    [{ not: { type: "string" } }, 1, "a"],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, null, 1],
    [{ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 1, 2],
    [JSON.parse('{"if":{"type":"string"},"then":{"minLength":1},"else":{"minimum":1}}'), "a", 0],
    [{ allOf: [POINT], unevaluatedProperties: false }, { x: 1 }, { x: 1, y: 1 }],
    [{ anyOf: [{ prefixItems: [true] }, false], unevaluatedItems: false }, [1], [1, 2]],
  ])("%j is held against a schema", (schema, good, bad) => {
    expect(says(schema, good)).toBeUndefined();
    if (bad !== undefined) expect(says(schema, bad)).toMatch(/^a(\W\S+)? (must|is not)/);
  });

  it("is reported with its path and what it must be", () => {
    const check = argumentsCheck({
      properties: { list: { items: { properties: { x: { type: "number" } }, required: ["y"] } } },
    });
    expect(check({ list: [{ y: 1 }, { x: "" }] })).toBe(
      'list[1] must have the property "y"; list[1].x must be of the type number',
    );
  });

  it("is checked by the draft that the schema names", () => {
    const above = { ...D4, properties: { a: { minimum: 5, exclusiveMinimum: true } } };
    expect(argumentsCheck(above)({ a: 6 })).toBeUndefined();
    expect(argumentsCheck(above)({ a: 5 })).toContain("more than 5");
    const tuple = { ...D7, properties: { a: { items: [{ type: "number" }], additionalItems: false } } };
    expect(argumentsCheck(tuple)({ a: [1] })).toBeUndefined();
    expect(argumentsCheck(tuple)({ a: [1, 2] })).toBeDefined();
    const beside = { properties: { a: { $ref: "#/$defs/any", type: "string" } }, $defs: { any: true } };
    expect(argumentsCheck({ ...D7, ...beside })({ a: 1 })).toBeUndefined();
    expect(argumentsCheck(beside)({ a: 1 })).toBeDefined();
  });

  it("is not checked against a keyword with an invalid value", () => {
    expect(says({ required: true, properties: null, items: 5, minLength: "x" }, { x: 1 })).toBeUndefined();
  });
});

describe("a ref", () => {
  it("resolves by a pointer, by an anchor, and by an `$id` inside of the schema", () => {
    const number = { type: "number" };
    const check = argumentsCheck({
      $id: "https://example.com/root",
      properties: {
        pointer: { $ref: "#/$defs/a~1b%20c" },
        name: { $ref: "#named" },
        address: { $ref: "other#/$defs/inner" },
        odd: { $ref: "#/elsewhere/0" },
      },
      $defs: {
        "a/b c": number,
        n: { $anchor: "named", ...number },
        o: { $id: "other", $defs: { inner: number } },
      },
      elsewhere: [{ $ref: "#named" }],
    });
    expect(check({ pointer: 1, name: 1, address: 1, odd: 1 })).toBeUndefined();
    for (const key of ["pointer", "name", "address", "odd"]) expect(check({ [key]: "" })).toContain(key);
  });

  it("may be recursive", () => {
    const check = argumentsCheck({ properties: { a: { $ref: "#" } }, additionalProperties: false });
    expect(check({ a: { a: {} } })).toBeUndefined();
    expect(check({ a: { a: { b: 1 } } })).toContain("a.a.b");
  });

  it("without a target is reported before the schema is used", () => {
    expect(() => argumentsCheck({ properties: { a: { $ref: "#/$defs/b" } } })).toThrow("leads nowhere");
    expect(() => argumentsCheck({ anyOf: [{ $ref: "https://example.com/" }] })).toThrow("leads nowhere");
    expect(() => argumentsCheck({ $ref: "#/%" })).toThrow("leads nowhere");
  });
});

describe("work", () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => {
      const $ref = `#/$defs/${n + 1}`;
      return [n, { allOf: [{ $ref }, { $ref }] }];
    }),
  );
  const bomb = { $ref: "#/$defs/0", $defs: { ...$defs, 40: { type: "object" } } };
  const loop = { $ref: "#/$defs/x", $defs: { x: { $ref: "#/$defs/x" } } };

  it("without end is refused, before the schema is used or for the arguments that cause it", () => {
    expect(() => argumentsCheck(bomb)).toThrow("too much work");
    expect(() => argumentsCheck(loop)).toThrow("too deep");
    for (const { $ref, $defs } of [bomb, loop])
      expect(argumentsCheck({ properties: { a: { $ref } }, $defs })({ a: {} })).toMatch(/^cannot be checked/);
  });

  it("has a limit for deep, long and repeated arguments", () => {
    let deep: unknown = 1;
    for (let n = 0; n < 5000; n++) deep = { a: deep };
    for (const schema of [
      { properties: { a: { $ref: "#" } } },
      { additionalProperties: { anyOf: [{ allOf: [{ $ref: "#" }] }] } },
      { enum: [{}, deep] },
    ])
      expect(argumentsCheck(schema)(deep)).toMatch(/^cannot be checked: it goes too deep/);
    const many = Array.from({ length: 300_000 }, (_, n) => n);
    expect(says({ items: { type: "integer" } }, many)).toMatch(/^cannot be checked/);
    expect(says({ uniqueItems: true }, many)).toBeUndefined();
  });

  it("is little for a pattern on which RegExp backtracks", () => {
    const text = `${"a".repeat(500)}!`;
    for (const pattern of ["^(a+)+$", "^(a|a)*$", "^(a*)*$", "^(?=(a+)+$)", "(?<=^(a|aa)+)b"])
      expect(says({ pattern }, text)).toContain("must match the pattern");
    expect(says({ patternProperties: { "^(a+)+$": false } }, { [text]: 1 })).toBeUndefined();
    expect(says({ format: "url" }, `http://${text}\n`)).toContain("format url");
  });

  it("is refused for a pattern whose cost is too high", () => {
    expect(says({ pattern: "x.{4000}y" }, "x".repeat(9000))).toMatch(/^cannot be checked/);
  });
});

describe("a pattern", () => {
  const matches = (source: string, text: string) =>
    compilePattern(source, new WorkBudget(1e6))!.matches(text, new WorkBudget(1e7));

  it("matches where RegExp matches", () => {
    const char = fc.constantFrom("a", "b", "1", "_", " ", "\n", "-");
    const atom = fc.constantFrom(
      ...[
        "a",
        "b",
        ".",
        "\\d",
        "\\w",
        "\\s",
        "[ab]",
        "[^a]",
        "[\\]\\-1]",
        "\\u0061",
        "\\x62",
        "\\p{L}",
        "\\-".slice(1),
      ],
    );
    const edge = fc.constantFrom("^", "$", "\\b", "\\B", "");
    const count = fc.constantFrom(
      ...["", "", "*", "+", "?", "{2}", "{1,2}", "{2,}", "{0}", "*?", "{1,3}?", "{2}?"],
    );
    const { pattern } = fc.letrec<{ pattern: string; group: string; part: string }>((tie) => ({
      pattern: fc
        .array(
          fc.array(tie("part"), { maxLength: 3 }).map((parts) => parts.join("")),
          { minLength: 1, maxLength: 2 },
        )
        .map((ways) => ways.join("|")),
      group: fc
        .tuple(fc.constantFrom("(", "(?:", "(?=", "(?!", "(?<=", "(?<!"), tie("pattern"), count)
        .map(([opens, inner, times]) => `${opens}${inner})${/[=!]/.test(opens) ? "" : times}`),
      part: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.tuple(atom, count).map(([one, times]) => one + times),
        edge,
        tie("group"),
      ),
    }));
    fc.assert(
      fc.property(pattern, fc.array(char, { maxLength: 8 }), (source, chars) => {
        const text = chars.join("");
        expect(matches(source, text)).toBe(new RegExp(source, "u").test(text));
      }),
      { numRuns: 2000 },
    );
  });

  it("treats surrogate pairs as one character", () => {
    expect(matches("^.$", "🧵")).toBe(true);
    expect(matches("^[🧵-🧷]\\u{1F9F5}\\ud83e\\uddf5$", "🧶🧵🧵")).toBe(true);
    expect(matches("^(?<name>a)(?:b)$", "ab")).toBe(true);
  });

  it("that is not supported accepts everything", () => {
    for (const pattern of ["^(a)\\1$", "^(?<x>a)\\k<x>$", "a{1,100000}"]) {
      expect(compilePattern(pattern, new WorkBudget(1e6))).toBeUndefined();
      expect(says({ pattern }, "b")).toBeUndefined();
      const named = { patternProperties: { [pattern]: { type: "string" } }, additionalProperties: false };
      expect(says(named, { b: 1 })).toBeUndefined();
    }
  });

  it("that is no regular expression is reported before the schema is used", () => {
    expect(() => argumentsCheck({ properties: { a: { pattern: "(" } } })).toThrow(SyntaxError);
    expect(() => compilePattern("a{1000}", new WorkBudget(100))).toThrow(TooMuchWork);
  });
});
