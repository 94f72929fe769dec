// A turn makes several model calls: after tools, after input, after a failure. Only output of the last one counts.
import type { ThreadItem, TokenUsageBreakdown, UserInput } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { decided, newThread } from "../../../../../test/support/test-thread.ts";
import type { ThreadState } from "../state.ts";
import type { TurnCommand } from "./commands.ts";

const TURN = "turn-1";
const text = (words: string): UserInput[] => [{ type: "text", text: words, text_elements: [] }];

const usage: TokenUsageBreakdown = {
  totalTokens: 3,
  inputTokens: 2,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 1,
  reasoningOutputTokens: 0,
};
const item: ThreadItem = {
  type: "agentMessage",
  id: "m",
  text: "",
  phase: null,
  memoryCitation: null,
  delivery: null,
  questions: null,
  startedAtMs: 2,
  completedAtMs: null,
};
const call = { callId: "c", name: "act", namespace: null, arguments: "{}", kind: "function" } as const;
const error = {
  message: "no",
  codexErrorInfo: "other",
  additionalDetails: null,
  misalignment: null,
} as const;
const about = (attempt: number) => ({ at: 5, turnId: TURN, attempt });

/** All commands that a model call can submit. */
const HEARD: Record<string, (attempt: number) => TurnCommand> = {
  "that a message begins": (attempt) => ({ kind: "itemStarted", ...about(attempt), item }),
  "a whole message": (attempt) => ({ kind: "itemCompleted", ...about(attempt), item }),
  "a call of a tool": (attempt) => ({ kind: "toolCalled", ...about(attempt), call }),
  "which model answers": (attempt) => ({ kind: "modelServed", ...about(attempt), model: "another" }),
  "its end": (attempt) => ({
    kind: "sampled",
    ...about(attempt),
    outcome: { kind: "done", usage, contextWindow: null },
  }),
  "its failure": (attempt) => ({ kind: "sampled", ...about(attempt), outcome: { kind: "failed", error } }),
  "that the conversation is too long": (attempt) => ({ kind: "compactFirst", ...about(attempt) }),
};

const SUMMARY: Record<string, (attempt: number) => TurnCommand> = {
  "a summary": (attempt) => ({
    kind: "summarised",
    ...about(attempt),
    outcome: { kind: "done", summary: "s", kept: [], contextTokens: 1, usage, contextWindow: null },
  }),
  "that there is none": (attempt) => ({
    kind: "summarised",
    ...about(attempt),
    outcome: { kind: "failed", error },
  }),
};

const started = decided(newThread(), {
  kind: "startTurn",
  at: 1,
  turnId: TURN,
  userItemId: "u",
  clientUserMessageId: null,
  input: text("go"),
  outputSchema: null,
  changes: {},
}).state;
const steered = decided(started, {
  kind: "steer",
  at: 2,
  expectedTurnId: TURN,
  userItemId: "v",
  clientUserMessageId: null,
  input: text("no, stop"),
}).state;
const compacting = decided(steered, { kind: "compactFirst", ...about(2) }).state;

describe("a call of the model that failed", () => {
  const fails = (at: number, attempt: number): TurnCommand => ({
    kind: "sampled",
    at,
    turnId: TURN,
    attempt,
    outcome: { kind: "failed", error, retry: { of: 2, afterMs: 500 } },
  });

  it("is made again after the pause that was asked for, at most as often as was allowed", () => {
    const first = decided(started, fails(1000, 1));
    expect(first.records).toMatchObject([
      { type: "sampleRequested", attempt: 2 },
      { type: "retrying", at: 1000, until: 1500, retry: 1, of: 2, error: { additionalDetails: "no" } },
    ]);
    const second = decided(first.state, fails(1600, 2));
    expect(second.records).toMatchObject([
      { type: "sampleRequested", attempt: 3 },
      { type: "retrying", at: 1600, until: 2100, retry: 2, of: 2 },
    ]);
    const third = decided(second.state, fails(2200, 3));
    expect(third.records.find(({ type }) => type === "turnEnded")).toMatchObject({ status: "failed", error });
    expect(third.state.turn).toBeNull();
  });
});

describe("a call of the model that another took the place of", () => {
  it.each(Object.entries(HEARD))("is not heard to say %s", (_, said) => {
    expect(steered.turn?.attempt).toBe(2);
    expect(decided(steered, said(1)).records).toEqual([]);
    expect(decided(steered, said(2)).records).not.toEqual([]);
  });

  it.each(Object.entries(SUMMARY))("is not heard to say %s", (_, said) => {
    const { attempt } = compacting.turn!;
    expect(decided(compacting, said(attempt - 1)).records).toEqual([]);
    expect(decided(compacting, said(attempt)).records).not.toEqual([]);
  });

  it.each(Object.entries({ ...HEARD, ...SUMMARY }))("in another turn is not heard to say %s", (_, said) => {
    const of = (state: ThreadState) => ({ ...said(state.turn!.attempt), turnId: "turn-0" }) as TurnCommand;
    for (const state of [started, compacting]) expect(decided(state, of(state)).records).toEqual([]);
  });
});
