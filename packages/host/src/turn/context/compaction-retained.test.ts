import { describe, expect, it } from "vitest";
import type { ThreadRecord } from "../../core/records.ts";
import type { Retained } from "../../core/turn/records.ts";
import { retainedBy } from "./compaction-retained.ts";

const said = (text: string, turnId: string, image = false): ThreadRecord => ({
  type: "itemCompleted",
  turnId,
  at: 1,
  item: {
    type: "userMessage",
    id: text,
    clientId: null,
    content: [{ type: "text", text }, ...(image ? [{ type: "localImage", path: "/x.png" } as const] : [])],
  },
});
const injected = (...items: object[]): ThreadRecord => ({ type: "itemsInjected", at: 1, items });
const note = (role: string, text: string) => ({
  type: "message",
  role,
  content: [{ type: "input_text", text }],
});

function short(kept: Retained): string {
  if (kept.kind === "goal") return `goal ${kept.text}`;
  if (kept.kind === "context") return `context ${kept.entries.map(({ value }) => value)}`;
  if (kept.kind === "injected") return `injected ${(kept.item as { role: string }).role}`;
  return kept.content.map((part) => (part.type === "text" ? part.text : part.type)).join("+");
}
const left = (records: ThreadRecord[], limit = 1_000_000) => retainedBy(records, "now", limit).map(short);

describe("what a compaction leaves", () => {
  it("is what users said, in words, and what clients put in", () => {
    expect(left([injected(note("assistant", "a")), said("one", "t1", true), said("two", "t2")])).toEqual([
      "injected assistant",
      "one\n(localImage)",
      "two",
    ]);
  });

  it("is the last of it, up to a bound, and all that the running turn was told", () => {
    const long = "x".repeat(50_000);
    const now = "y".repeat(100_000);
    const [first, second, ...more] = left([
      said("old", "t0"),
      said(`A${long}`, "t1"),
      said(`B${long}`, "t2"),
      said(now, "now", true),
    ]);
    expect(first).toBe(`A${long.slice(0, 29_998)} […]`);
    expect(second).toBe(`B${long}`);
    expect(more).toEqual([`${now}+localImage`]);
  });

  it("is what the running turn is for, and not what others were", () => {
    const goal = (turnId: string): ThreadRecord => ({
      type: "goalContext",
      at: 1,
      turnId,
      about: "continuation",
      text: `of ${turnId}`,
    });
    expect(left([goal("t1"), said("one", "t1"), goal("now")])).toEqual(["one", "goal of now"]);
  });

  it("is less in a small window", () => {
    expect(left([said("old", "t1"), said("x".repeat(700), "t2")], 1000)).toEqual([`${"x".repeat(600)} […]`]);
  });

  it("has all instructions of developers, and the last of the rest that clients put in", () => {
    const large = "z".repeat(60_000);
    expect(
      left([
        injected(note("developer", large), note("assistant", large)),
        injected(note("system", large), note("user", large)),
      ]),
    ).toEqual(["injected developer", "injected system", "injected user"]);
  });

  it("has what the compaction before it left", () => {
    const before: ThreadRecord = {
      type: "compacted",
      turnId: "t1",
      at: 1,
      attempt: 1,
      summary: "s",
      kept: [
        { kind: "injected", item: note("developer", "rule") },
        { kind: "user", turnId: "t1", content: [{ type: "text", text: "one" }], clientId: null },
      ],
      spent: null as never,
      usage: { total: null as never, last: null as never, modelContextWindow: null },
    };
    expect(left([before, said("two", "t2")])).toEqual(["injected developer", "one", "two"]);
  });
});
