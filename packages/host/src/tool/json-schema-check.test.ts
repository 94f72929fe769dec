import { expect, it } from "vitest";
import { violationOf } from "./json-schema-check.ts";

it("a value is held against a schema by the draft that it names", async () => {
  const $schema = "http://json-schema.org/draft-04/schema#";
  const schema = { $schema, properties: { n: { minimum: 0, exclusiveMinimum: true } } };
  expect(await violationOf(schema, { n: 1 })).toBeUndefined();
  expect(await violationOf(schema, { n: 0 })).toBe("n must be more than 0");
  expect(await violationOf({}, "anything")).toBeUndefined();
});

it("nothing keeps to a schema that cannot be used, and the reason is given", async () => {
  const schema = { properties: { a: { $ref: "#/$defs/none" } } };
  for (let time = 0; time < 2; time++)
    expect(await violationOf(schema, {})).toMatch(/^the schema of the tool cannot be used: .*leads nowhere/);
  expect(await violationOf({ properties: { a: { pattern: "(" } } }, {})).toContain("cannot be used");
  const loop = { properties: { a: { $ref: "#/$defs/x" } }, $defs: { x: { $ref: "#/$defs/x" } } };
  expect(await violationOf(loop, { a: 1 })).toContain("cannot be checked");
});
