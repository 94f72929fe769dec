import type { SessionSource } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { isInteractive, kindOf, sourceFilter } from "./source-kind.ts";

const spawned = { thread_spawn: { parent_thread_id: "p", depth: 1 } };

describe("the kind of a source", () => {
  const sources: readonly (readonly [unknown, string, boolean])[] = [
    ["cli", "cli", true],
    ["vscode", "vscode", true],
    ["exec", "exec", false],
    ["appServer", "appServer", false],
    ["unknown", "unknown", false],
    [{ custom: "atlas" }, "custom", true],
    [{ custom: "chatgpt" }, "custom", true],
    [{ custom: "else" }, "custom", false],
    [{ subAgent: "review" }, "subAgentReview", false],
    [{ subAgent: "compact" }, "subAgentCompact", false],
    [{ subAgent: "memory_consolidation" }, "subAgentMemory", false],
    [{ subAgent: spawned }, "subAgentThreadSpawn", false],
    [{ subAgent: { other: "x" } }, "subAgentOther", false],
  ];
  it.each(sources)("%j is %s, and interactive: %s", (source, kind, interactive) => {
    expect(kindOf(source as SessionSource)).toBe(kind);
    expect(isInteractive(source as SessionSource)).toBe(interactive);
  });
});

describe("the filter of a list", () => {
  const subAgents = [
    "subAgentReview",
    "subAgentCompact",
    "subAgentThreadSpawn",
    "subAgentOther",
    "subAgentMemory",
  ];
  it.each([
    ["nothing asked", undefined, false, [1], undefined],
    ["nothing asked of a family", undefined, true, [1, 0], undefined],
    ["an empty list", [], false, [1], undefined],
    ["an empty list of a family", [], true, [1], undefined],
    ["people alone", ["cli", "vscode"], false, [1], ["cli", "vscode"]],
    ["one kind of them", ["vscode"], true, [1], ["vscode"]],
    ["programs alone", ["exec"], false, [0], ["exec"]],
    ["both", ["exec", "cli"], false, [1, 0], ["exec", "cli"]],
    ["all sub-agents", ["subAgent"], false, [0], subAgents],
    ["a kind twice", ["subAgentReview", "subAgent"], false, [0], subAgents],
  ] as const)("%s", (_, asked, related, interactive, kinds) => {
    expect(sourceFilter(asked, related)).toEqual({ interactive, kinds });
  });
});
