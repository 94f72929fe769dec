import { describe, expect, it } from "vitest";
import { fillArguments } from "./fill-arguments.ts";

const argument = (name: string, required = false) => ({ name, description: null, required });
const POEM = [argument("topic", true), argument("style")];

describe("the arguments of an MCP prompt", () => {
  it("[PROMPT-8] are filled by name, and by the other words in their order", () => {
    const filled = (args: string) => {
      const result = fillArguments(POEM, args);
      return result.kind === "filled" ? { ...result.values, rest: result.rest } : result.names;
    };
    expect(filled("topic='the sea' style=sad")).toEqual({ topic: "the sea", style: "sad", rest: "" });
    expect(filled("sea sad")).toEqual({ topic: "sea", style: "sad", rest: "" });
    expect(filled("style=sad the sea")).toEqual({ topic: "the sea", style: "sad", rest: "" });
    expect(filled("sea very sad\nindeed")).toEqual({ topic: "sea", style: "very sad\nindeed", rest: "" });
    expect(filled("sea")).toEqual({ topic: "sea", rest: "" });
    expect(filled("topic=sea style=sad and more")).toEqual({ topic: "sea", style: "sad", rest: "and more" });
    expect(filled("topic= ")).toEqual({ topic: "", rest: "" });
  });

  it("[PROMPT-8] that are required are reported if they are missing", () => {
    expect(fillArguments(POEM, "style=sad")).toEqual({ kind: "missing", names: ["topic"] });
    expect(fillArguments([argument("a", true), argument("b", true)], "")).toEqual({
      kind: "missing",
      names: ["a", "b"],
    });
    expect(fillArguments([], "all of it")).toEqual({ kind: "filled", values: {}, rest: "all of it" });
  });
});
