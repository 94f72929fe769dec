import { describe, expect, it } from "vitest";
import { HELPER_DONE, hearHelper, helping } from "../../../../../test/support/helping-thread.ts";
import { after, decided } from "../../../../../test/support/test-thread.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { withNews } from "./helper-end-notes.ts";

describe("news of helpers", () => {
  const ended = after(helping("call"), hearHelper("child", 5, [HELPER_DONE]));

  const told = (state: ThreadState, ...records: readonly ThreadRecord[]) =>
    withNews(state, records, 9).map(({ type }) => type);
  const request: ThreadRecord = { type: "sampleRequested", turnId: "turn-1", attempt: 2 };
  const start: ThreadRecord = { type: "turnStarted", turnId: "turn-2", at: 9, input: [], outputSchema: null };

  it("come before a model call", () => {
    expect(told(ended, request)).toEqual(["itemsInjected", "helperTold", "sampleRequested"]);
    expect(told(helping(), request)).toEqual(["sampleRequested"]);
  });

  it("come after the start of the turn that calls the model, and wait if it calls none", () => {
    const idle = { ...ended, turn: null };
    const first = { ...request, turnId: "turn-2", attempt: 1 };
    expect(told(idle, start, first)).toEqual([
      "turnStarted",
      "itemsInjected",
      "helperTold",
      "sampleRequested",
    ]);
    expect(told(idle, start)).toEqual(["turnStarted"]);
  });

  it("come with the end of a helper in the same commit", () => {
    const heard: ThreadRecord = {
      type: "helperHeard",
      at: 9,
      childId: "child",
      seq: 5,
      state: HELPER_DONE,
      untold: true,
    };
    const added = ["itemsInjected", "helperTold"];
    expect(told(helping(), heard, request)).toEqual(["helperHeard", ...added, "sampleRequested"]);
    expect(told(helping(), { ...heard, untold: false }, request)).toEqual(["helperHeard", "sampleRequested"]);
  });

  it("are messages in the format of the Codex CLI", () => {
    const settle = { kind: "settle", output: "x", success: true } as const;
    const { records } = decided(ended, {
      kind: "stepCall",
      at: 8,
      turnId: "turn-1",
      callId: "call",
      from: "proposed",
      step: settle,
    });
    const notice = JSON.stringify({ agent_path: "child", status: { completed: "Three." } });
    const text = `<subagent_notification>\n${notice}\n</subagent_notification>`;
    expect(records.filter(({ type }) => type === "itemsInjected")).toEqual([
      {
        type: "itemsInjected",
        at: 8,
        after: "turn-1",
        items: [{ type: "message", role: "user", content: [{ type: "input_text", text }] }],
      },
    ]);
  });
});
