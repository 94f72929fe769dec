import { describe, expect, it } from "vitest";
import { after, decided, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import type { Command } from "../commands.ts";
import { fold } from "../fold.ts";
import { notify } from "../notify.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { runningCalls } from "../turn/phase.ts";
import type { HookCommand } from "./commands.ts";
import { MOST_STOP_BLOCKS } from "./decide.ts";

const TURN = "turn-1";
type EndHooks = Extract<HookCommand, { kind: "endHooks" }>;

const ended = (event: EndHooks["event"], more: Partial<EndHooks> = {}): EndHooks =>
  ({
    kind: "endHooks",
    at: 5,
    turnId: TURN,
    attempt: 1,
    event,
    subject: null,
    runs: [],
    outcome: {},
    ...more,
  }) as EndHooks;
const called = (callId: string): Command => ({
  kind: "toolCalled",
  at: 2,
  turnId: TURN,
  attempt: 1,
  call: { callId, name: "act", namespace: null, arguments: "{}", kind: "function" },
});
const running = after(newThread(), startTurn(TURN));
const calling = after(running, called("a"));
const types = (records: readonly ThreadRecord[]) => records.map(({ type }) => type);
const stage = (state: ThreadState) => runningCalls(state)[0]?.stage;

it("hooks of a turn that is over have no effect", () => {
  for (const event of ["preToolUse", "stop", "userPromptSubmit"] as const)
    expect(decided(calling, ended(event, { turnId: "turn-0" })).records).toEqual([]);
  expect(decided(newThread(), ended("stop")).records).toEqual([]);
});

it("clients are notified of each run", () => {
  const runs = [{ id: "run-1" }, { id: "run-2" }];
  const about = { turnId: TURN, at: 4, runs };
  const sent = (record: object) => notify("t", record as ThreadRecord);
  const params = runs.map((run) => ({ threadId: "t", turnId: TURN, run }));
  expect(sent({ type: "hooksStarted", ...about }).map(({ params }) => params)).toEqual(params);
  expect(sent({ type: "hooksEnded", ...about }).map(({ params }) => params)).toEqual(params);
});

it("hooks of a call that is unknown change nothing", () => {
  const record = { type: "hooksEnded", turnId: TURN, at: 5, event: "permissionRequest", subject: "unknown" };
  expect(fold(calling, { ...record, runs: [], outcome: {} } as ThreadRecord).turn).toEqual(calling.turn);
});

it("starts are recorded if hooks run at all", () => {
  const start = (runs: readonly object[]) =>
    ({ kind: "startHooks", at: 4, turnId: TURN, runs }) as unknown as Command;
  expect(decided(running, start([])).records).toEqual([]);
  expect(types(decided(running, start([{ id: "run" }])).records)).toEqual(["hooksStarted"]);
});

it("hooks at the start of a thread have run for its load", () => {
  const { state } = decided({ ...running, loadEpoch: 3 }, ended("sessionStart"));
  expect(state).toMatchObject({ facts: running.facts, startHooks: { epoch: 3 } });
  expect(running.startHooks).toBeUndefined();
});

describe("hooks before a call", () => {
  const before = (outcome: EndHooks["outcome"], subject = "a") => ended("preToolUse", { subject, outcome });

  it("let it go on once, with other arguments if they say so", () => {
    const { state, records } = decided(calling, before({}));
    expect(types(records)).toEqual(["hooksEnded"]);
    expect(stage(state)).toMatchObject({ kind: "proposed", hooked: true });
    expect(runningCalls(state)[0]?.call.arguments).toBe("{}");
    expect(decided(state, before({})).records).toEqual([]);
    const rewritten = decided(calling, before({ input: '{"x":1}' })).state;
    expect(runningCalls(rewritten)[0]?.call.arguments).toBe('{"x":1}');
    expect(decided(calling, before({}, "unknown")).records).toEqual([]);
  });

  it("block it with a reason that the model gets", () => {
    const { state, records } = decided(calling, before({ block: "not on Fridays" }));
    expect(types(records).slice(0, 2)).toEqual(["hooksEnded", "toolAnswered"]);
    expect(records[1]).toMatchObject({ success: false, output: expect.stringContaining("not on Fridays") });
    expect(stage(state)).toMatchObject({ kind: "settled" });
  });
});

describe("hooks before a question", () => {
  const answer = {
    method: "item/commandExecution/requestApproval",
    answer: { kind: "result", result: { decision: "accept" } },
  } as const;
  const item = { type: "commandExecution", id: "a" } as unknown as NonNullable<EndHooks["item"]>;
  const asked = (outcome: EndHooks["outcome"], subject = "a") =>
    ended("permissionRequest", { subject, outcome, item });

  it("answer it, and the call is shown as after a person's answer", () => {
    const { records, state } = decided(calling, asked({ answer } as EndHooks["outcome"]));
    expect(types(records)).toEqual(["itemStarted", "hooksEnded"]);
    expect(stage(state)).toEqual({ kind: "heard", ...answer });
  });

  it("leave it to people, which the call remembers in whichever stage it is", () => {
    const { records, state } = decided(calling, asked({}));
    expect(types(records)).toEqual(["hooksEnded"]);
    expect(stage(state)).toEqual({ kind: "proposed", undecided: true });
    const heard = decided(calling, asked({ answer } as EndHooks["outcome"])).state;
    expect(stage(decided(heard, asked({})).state)).toEqual({ kind: "heard", ...answer, undecided: true });
    const sent = fold(calling, { type: "toolDispatched", turnId: TURN, at: 4, callId: "a", again: false });
    expect(stage(decided(sent, asked({})).state)).toEqual(stage(sent));
    expect(decided(calling, asked({}, "unknown")).records).toEqual([]);
    const settled = after(calling, ended("preToolUse", { subject: "a", outcome: { block: "no" } }));
    expect(decided(settled, asked({})).records).toEqual([]);
  });
});

describe("hooks that stop the turn", () => {
  it("end it without another call of the model, unless that has begun", () => {
    const stop = (attempt: number) => ended("userPromptSubmit", { attempt, outcome: { stop: true } });
    const { records, state } = decided(running, stop(1));
    expect(types(records)).toContain("turnEnded");
    expect(records.find(({ type }) => type === "turnEnded")).toMatchObject({ status: "completed" });
    expect(state.turn).toBeNull();
    expect(types(decided(running, stop(2)).records)).toEqual(["hooksEnded"]);
    expect(types(decided(running, ended("userPromptSubmit")).records)).toEqual(["hooksEnded"]);
  });

  it("interrupt it before a compaction", () => {
    const stop = (attempt: number) => ended("preCompact", { attempt, outcome: { stop: true } });
    const { records } = decided(running, stop(1));
    expect(records.find(({ type }) => type === "turnEnded")).toMatchObject({ status: "interrupted" });
    expect(types(decided(running, stop(2)).records)).toEqual(["hooksEnded"]);
    expect(types(decided(running, ended("preCompact")).records)).toEqual(["hooksEnded"]);
  });
});

describe("hooks at the end of a turn", () => {
  const atEnd = (stopBlocks = 0): ThreadState => {
    const due = fold(running, { type: "lastHooksDue", turnId: TURN, at: 4, event: "stop" } as ThreadRecord);
    return { ...due, turn: { ...due.turn!, stopBlocks } };
  };
  const runs = [
    {
      id: "run-1",
      status: "blocked",
      entries: [
        { kind: "feedback", text: "test it" },
        { kind: "warning", text: "not this" },
      ],
    },
    { id: "run-2", status: "completed", entries: [{ kind: "feedback", text: "nor this" }] },
  ] as unknown as EndHooks["runs"];
  const blocks = (
    outcome: EndHooks["outcome"] = { block: "test it" },
    itemId: string | undefined = "prompt",
  ) => ended("stop", { outcome, runs, itemId } as Partial<EndHooks>);

  it("let it end", () => {
    const { records, state } = decided(atEnd(), ended("stop"));
    expect(types(records).filter((type) => type === "turnEnded")).toHaveLength(1);
    expect(state.turn).toBeNull();
  });

  it("make the model go on with their feedback alone as its prompt", () => {
    const { records, state } = decided(atEnd(), blocks());
    expect(types(records)).toEqual(["hooksEnded", "itemStarted", "itemCompleted", "sampleRequested"]);
    const fragments = [{ hookRunId: "run-1", text: "test it" }];
    const item = { type: "hookPrompt", id: "prompt", fragments, startedAtMs: 5, completedAtMs: null };
    expect(records.slice(1, 3)).toEqual([
      { type: "itemStarted", turnId: TURN, at: 5, item },
      { type: "itemCompleted", turnId: TURN, at: 5, item: { ...item, completedAtMs: 5 } },
    ]);
    expect(state.turn?.stopBlocks).toBe(1);
  });

  it("do so no more often than the limit, and not if one of them stops the turn", () => {
    expect(types(decided(atEnd(MOST_STOP_BLOCKS - 1), blocks()).records)).toContain("sampleRequested");
    expect(types(decided(atEnd(MOST_STOP_BLOCKS), blocks()).records)).toContain("turnEnded");
    const stopped = decided(atEnd(), blocks({ block: "test it", stop: true }));
    expect(types(stopped.records)).toContain("turnEnded");
  });

  it("end the phase in which the turn waits for them, and no other", () => {
    const phase = (state: ThreadState, event: EndHooks["event"]) =>
      fold(state, {
        type: "hooksEnded",
        turnId: TURN,
        at: 5,
        event,
        subject: null,
        runs: [],
        outcome: {},
      }).turn?.phase;
    expect(phase(atEnd(), "stop")).toEqual({ kind: "ending" });
    expect(phase(atEnd(), "subagentStop")).toEqual({ kind: "hooks", event: "stop" });
    expect(phase(running, "stop")).toEqual(running.turn?.phase);
  });

  it("are only recorded if the turn is elsewhere by then", () => {
    expect(types(decided(running, blocks()).records)).toEqual(["hooksEnded"]);
    expect(types(decided(atEnd(), ended("subagentStop")).records)).toEqual(["hooksEnded"]);
  });
});
