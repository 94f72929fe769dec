import { expect, it } from "vitest";
import { toolArgumentsText } from "./tool-arguments-text.ts";

it("names the arguments of a tool, with what is known of them", () => {
  const properties = {
    service: { type: "string" },
    to: { enum: ["staging", "live"] },
    tags: { type: "array", items: { type: "string" } },
    count: { type: ["integer", "null"] },
    any: {},
  };
  expect(toolArgumentsText({ type: "object", properties, required: ["service"] })).toBe(
    'service: string, to?: "staging" | "live", tags?: string[], count?: integer | null, any?',
  );
});

it("takes whatever a server sends as a schema", () => {
  for (const schema of [undefined, null, true, "x", { properties: 3 }, { properties: { a: null } }])
    expect(toolArgumentsText(schema)).toBe(schema instanceof Object && schema.properties !== 3 ? "a?" : "");
  expect(toolArgumentsText({ properties: { "a\x1b[2J": { type: "\x9b" } } })).toBe("a␛[2J?: \ufffd");
});
