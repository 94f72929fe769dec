import { describe, expect, it } from "vitest";
import type { RapCommand } from "../commands.ts";
import { decide } from "../decide.ts";
import { next } from "../next.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { newThread } from "../test-thread.ts";
import { type LateCall, NO_RAP, type RapState } from "./records.ts";

const CALL = { callId: "c", server: "desk", via: "desk", tool: "deploy", args: "{}" };
const LATE: LateCall = { ...CALL, turnId: "turn-1", until: null };

function threadWith(rap: Partial<RapState>): ThreadState {
  return { ...newThread(), rap: { ...NO_RAP, ...rap } };
}

function accepted(
  state: ThreadState,
  command: RapCommand,
): { records: readonly ThreadRecord[]; state: ThreadState } {
  const decision = decide(state, command, new Map());
  if (decision.kind === "refused") throw decision.fault;
  return decision;
}

describe("a choice that can not be told now", () => {
  const choice = {
    requestId: 7,
    callId: "c",
    server: "desk",
    responseUrl: "https://desk/answer",
    selected: 1,
  };
  const later = { kind: "choiceDelayed", at: 10, requestId: 7, until: 99 } as const;

  it("is told at another time, which the journal knows", () => {
    const first = threadWith({ late: [LATE], choices: [choice] });
    const { state } = accepted(first, later);
    const [before, after] = [first, state].map((one) => next(one)[0]);
    expect(before).toMatchObject({ kind: "postChoice", due: null });
    expect(after).toMatchObject({ kind: "postChoice", due: 99, choice: { delays: 1 } });
    expect(after!.key).not.toBe(before!.key);
  });

  it("is given up when its call is over", () => {
    const { records, state } = accepted(threadWith({ choices: [choice] }), later);
    expect(records).toEqual([{ type: "choicePosted", at: 10, requestId: 7 }]);
    expect(next(state)).toEqual([]);
  });
});

describe("a child that can not be made", () => {
  const event = {
    id: "event_1",
    kind: "event",
    call: CALL,
    output: "a bird",
    success: true,
    shown: { content: [], _meta: null },
  } as const;
  const failed = { kind: "childFailed", at: 10, childId: "child" } as const;

  it("leaves its event to the thread itself, which does not wait for it any more", () => {
    const { state } = accepted(threadWith({ children: [{ childId: "child", event }] }), failed);
    expect(state.rap).toMatchObject({ children: [], events: [event] });
    expect(accepted(state, failed).records).toEqual([]);
  });

  it("has had its event if it was made", () => {
    const { state } = accepted(threadWith({ children: [{ childId: "child", event: null }] }), failed);
    expect(state.rap).toMatchObject({ children: [], events: [] });
  });

  it("is not over before it has its event, whatever is said of what was left of it", () => {
    const due = threadWith({ children: [{ childId: "child", event }] });
    expect(accepted(due, { kind: "childEnded", at: 10, childId: "child" }).records).toEqual([]);
  });
});
