import { describe, expect, it } from "vitest";
import type { McpElicitation } from "./mcp-interface.ts";
import { readElicitation } from "./read-elicitation.ts";

const form = (requestedSchema: Record<string, unknown>, meta: unknown = null): McpElicitation => ({
  mode: "form",
  message: "Who?",
  requestedSchema,
  meta,
});
const page = (url: string): McpElicitation => ({
  mode: "url",
  message: "Visit",
  url,
  elicitationId: "e",
  meta: null,
});
const EMPTY = { type: "object", properties: {} };

describe("an elicitation of an MCP server", () => {
  it("[MCPCALL-20] is asked with the form that the server sent, if clients can show it", () => {
    const schema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: {
        name: { type: "string", title: "Name" },
        age: { type: "integer", minimum: 0 },
        pets: { type: "array", items: { type: "string", enum: ["cat", "dog"] } },
      },
      required: ["name"],
    };
    expect(readElicitation(form(schema))).toEqual({
      question: { mode: "form", _meta: null, message: "Who?", requestedSchema: schema },
      url: null,
    });
    const nested = { type: "object", properties: { a: { type: "object", properties: {} } } };
    expect(() => readElicitation(form(nested))).toThrow(/primitive types/);
    expect(() => readElicitation(form({}))).toThrow(/primitive types/);
  });

  it("[MCPCALL-20] cannot look like a question of the host", () => {
    const meta = {
      codex_approval_kind: "mcp_tool_call",
      bobbin_approval_kind: "mcp_sampling",
      persist: ["session", "always"],
      tool_params: {},
      "example.org/trace": 1,
    };
    expect(readElicitation(form(EMPTY, meta)).question._meta).toEqual({ "example.org/trace": 1 });
    expect(readElicitation(form(EMPTY, { persist: "always" })).question._meta).toBeNull();
  });

  it("[MCPCALL-20] is bounded", () => {
    const long = { ...form(EMPTY, { big: "x".repeat(100_000) }), message: "x".repeat(1_000_000) };
    const { question } = readElicitation(long);
    expect(JSON.stringify(question).length).toBeLessThan(10_000);
    const properties = Object.fromEntries(
      Array.from({ length: 5000 }, (_, at) => [`field${at}`, { type: "string" }]),
    );
    expect(() => readElicitation(form({ type: "object", properties }))).toThrow(/more than 65536 characters/);
  });

  it("[MCPCALL-22] keeps its address apart, and has the user visit web pages only", () => {
    const url = "https://example.org/?secret=1";
    const read = readElicitation(page(url));
    expect(read.url).toBe(url);
    expect(JSON.stringify(read.question)).not.toContain("secret");
    for (const other of [
      "file:///etc/passwd",
      "javascript:alert(1)",
      "no address",
      `https://a/${"x".repeat(9000)}`,
    ])
      expect(() => readElicitation(page(other)), other).toThrow(/no address of a web page/);
  });
});
