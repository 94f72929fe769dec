import { describe, expect, it } from "vitest";
import {
  callingHelpers as calling,
  closeHelper,
  HELPER_DONE as DONE,
  hearHelper as heard,
  helping,
  helperMade as made,
  HELPER_RUNNING as RUNNING,
  spawnHelper as spawn,
  stepHelp as step,
  helperTook as taken,
  waitForHelpers as wait,
} from "../../../../../test/support/helping-thread.ts";
import { after, decided, endModelCall, startTurn } from "../../../../../test/support/test-thread.ts";
import type { Command } from "../commands.ts";
import { next } from "../next.ts";
import type { ThreadRecord } from "../records.ts";
import { outlives } from "../turn/dead-host-recovery.ts";
import { runningCalls } from "../turn/phase.ts";
import type { Help } from "./helper-calls.ts";

const answers = (records: readonly ThreadRecord[]): readonly (readonly [string, unknown])[] =>
  records.flatMap((record) =>
    record.type === "toolAnswered" ? [[record.callId, record.output] as const] : [],
  );

const types = (records: readonly ThreadRecord[]): readonly string[] => records.map(({ type }) => type);

const result = (childId: string, state: unknown): string =>
  JSON.stringify({ status: { [childId]: state }, timed_out: false });

describe("a helper", () => {
  it("is made before the call that asks for it is answered, and gets its task after that", () => {
    const due = after(calling("spawn"), step("spawn", spawn("child", "spawn")));
    expect(next(due).map(({ key }) => key)).toEqual(["helper child make"]);
    const { state, records } = decided(due, made("child"));
    expect(answers(records)).toEqual([["spawn", JSON.stringify({ agent_id: "child", nickname: "Weft" })]]);
    expect(types(records).at(-1)).toBe("sampleRequested");
    expect(next(state).map(({ key }) => key)).toContain("helper child send input of child");
    expect(decided(state, made("child")).records).toEqual([]);
  });

  it("is refused beyond the limit, whichever of several calls comes last", () => {
    const one = after(calling("a", "b"), step("a", spawn("child", "a", 1)));
    const { state, records } = decided(one, step("b", spawn("other", "b", 1)));
    expect(answers(records)[0]![1]).toContain("The limit of 1 open agents is reached.");
    expect(state.helpers.open.map(({ childId }) => childId)).toEqual(["child"]);
  });

  it("that cannot be made is the answer to its call, and is gone", () => {
    const due = after(calling("spawn"), step("spawn", spawn("child", "spawn")));
    const { state, records } = decided(due, {
      kind: "helperFailed",
      at: 5,
      childId: "child",
      why: "no room",
    });
    expect(answers(records)).toEqual([["spawn", "The helper could not be started: no room"]]);
    expect(state.helpers.open).toEqual([]);
  });

  it("keeps its thread alive while it is at work, and no longer", () => {
    const ended = after(helping(), { kind: "interrupt", at: 6, turnId: null });
    expect(outlives(ended)).toBe(true);
    expect(outlives(after(ended, heard("child", 5, [RUNNING, DONE])))).toBe(false);
  });

  it("is not set to work again by input whose turn has been heard to end", () => {
    const state = after(
      calling("spawn"),
      step("spawn", spawn("child", "spawn")),
      made("child"),
      heard("child", 5, [RUNNING, DONE]),
      taken("child", 2),
    );
    expect(state.helpers.open[0]).toMatchObject({ state: DONE, inputs: [] });
  });

  it("has taken what its journal says that it took, though nobody said so", () => {
    const sent = after(calling("spawn"), step("spawn", spawn("child", "spawn")), made("child"));
    const state = after(sent, { ...heard("child", 2, [RUNNING]), taken: ["input of child"] } as Command);
    expect(state.helpers.open[0]).toMatchObject({ state: RUNNING, inputs: [] });
    expect(next(state).map(({ key }) => key)).not.toContain("helper child send input of child");
  });
});

describe("the end of a helper", () => {
  it("answers the call that waits for it, and is not told again", () => {
    const waiting = after(helping("wait"), step("wait", wait("child")));
    expect(next(waiting)).toContainEqual(expect.objectContaining({ kind: "call", due: 30_000 }));
    const { state, records } = decided(waiting, heard("child", 5, [DONE]));
    expect(answers(records)).toEqual([["wait", result("child", { completed: "Three." })]]);
    expect(types(records)).not.toContain("itemsInjected");
    expect(state.helpers.news).toEqual([]);
    expect(decided(state, heard("child", 5, [DONE])).records).toEqual([]);
  });

  it("answers each of several calls that wait for it, and calls the model once", () => {
    const waiting = after(
      helping("a", "b"),
      step("a", wait("child")),
      step("b", wait("child", "nobody else")),
    );
    expect(runningCalls(waiting).map(({ stage }) => stage.kind)).toEqual(["settled", "waiting", "settled"]);
    const both = after(helping("a", "b"), step("a", wait("child")), step("b", wait("child")));
    const { records } = decided(both, heard("child", 5, [DONE]));
    expect(answers(records).map(([callId]) => callId)).toEqual(["a", "b"]);
    expect(types(records).filter((type) => type === "sampleRequested")).toHaveLength(1);
  });

  it("is told to the model with its next call if nobody waits for it, once", () => {
    const { state } = decided(helping("other"), heard("child", 5, [DONE]));
    expect(state.helpers.news).toEqual([{ childId: "child", seq: 5, state: DONE }]);
    const settle = { kind: "settle", output: "x", success: true } as const;
    const settled = decided(state, {
      kind: "stepCall",
      at: 8,
      turnId: "turn-1",
      callId: "other",
      from: "proposed",
      step: settle,
    });
    expect(types(settled.records).slice(-3)).toEqual(["itemsInjected", "helperTold", "sampleRequested"]);
    expect(settled.state.helpers.news).toEqual([]);
  });

  it("stands before what the next turn begins with", () => {
    const ended = after(helping(), { kind: "interrupt", at: 6, turnId: null }, heard("child", 5, [DONE]));
    const { records } = decided(ended, startTurn("turn-2", 9));
    expect(types(records).slice(1, 4)).toEqual(["turnStarted", "itemsInjected", "helperTold"]);
  });

  it("that was not told yet is the answer to a wait that comes after it, and only that", () => {
    const { state } = decided(helping("wait"), heard("child", 5, [DONE]));
    const { records } = decided(state, step("wait", wait("child")));
    expect(answers(records)).toEqual([["wait", result("child", { completed: "Three." })]]);
    expect(types(records)).toContain("helperTold");
    expect(types(records)).not.toContain("itemsInjected");
  });

  it("that was not told yet stays to be told if the wait comes to another one", () => {
    const sent = after(
      decided(helping("send", "wait"), heard("child", 5, [DONE])).state,
      step("send", {
        kind: "send",
        childId: "child",
        input: { id: "more", input: [], rootTurnId: "turn-1" },
      }),
      step("wait", wait("child")),
    );
    const { records, state } = decided(sent, heard("child", 9, [], true));
    expect(answers(records)).toEqual([["wait", result("child", "shutdown")]]);
    expect(JSON.stringify(records)).toContain("Three.");
    expect(state.helpers).toMatchObject({ open: [], news: [] });
  });

  it("is its closing, if it was at work and nobody else ended it", () => {
    const { state } = decided(helping(), heard("child", 5, [], true));
    expect(state.helpers).toMatchObject({
      open: [],
      news: [{ childId: "child", state: { status: "shutdown" } }],
    });
    const idle = decided(after(helping(), heard("child", 5, [DONE])), heard("child", 6, [], true));
    expect(types(idle.records)).toEqual(["helperClosed"]);
  });

  it.each([
    ["why it failed", "The model is gone.", { errored: "The model is gone." }],
    ["that it failed, if nobody knows why", null, { errored: "" }],
  ])("tells the model that waits for it %s", (_, message, status) => {
    const waiting = after(helping("wait"), step("wait", wait("child")));
    const { records } = decided(waiting, heard("child", 5, [{ status: "errored", message }]));
    expect(answers(records)).toEqual([["wait", result("child", status)]]);
  });

  it("is the answer to a wait in the same news that say that it took its input", () => {
    const due = after(calling("spawn", "wait"), step("spawn", spawn("child", "spawn")), made("child"));
    const waiting = after(due, step("wait", wait("child")));
    const news = { ...heard("child", 5, [RUNNING, DONE]), taken: ["input of child"] } as Command;
    const { records, state } = decided(waiting, news);
    expect(answers(records)).toEqual([["wait", result("child", { completed: "Three." })]]);
    expect(state.helpers.news).toEqual([]);
    // Input that it has not taken yet keeps it at work: the wait goes on.
    const early = decided(waiting, heard("child", 5, [RUNNING, DONE]));
    expect(answers(early.records)).toEqual([]);
  });

  it("is the answer to a wait for several, with the others that have ended by then", () => {
    const two = after(
      calling("a", "b", "wait"),
      step("a", spawn("child", "a")),
      step("b", spawn("other", "b")),
      made("child"),
      made("other"),
      taken("child"),
      step("wait", wait("child", "other")),
    );
    // The news of its end come before the word that it took its input.
    const ended = after(two, heard("other", 5, [RUNNING, DONE]), taken("other", 2));
    expect(runningCalls(ended).at(-1)?.stage.kind).toBe("waiting");
    const { records, state } = decided(ended, heard("child", 5, [{ status: "completed", message: "Four." }]));
    const [[callId, output]] = answers(records) as [[string, string]];
    expect([callId, JSON.parse(output)]).toEqual([
      "wait",
      { status: { child: { completed: "Four." }, other: { completed: "Three." } }, timed_out: false },
    ]);
    expect(types(records)).toContain("helperTold");
    expect(types(records)).not.toContain("itemsInjected");
    expect(state.helpers.news).toEqual([]);
  });

  it("by close_agent is no news for the model, which reads it in that call's output", () => {
    const close: Help = { kind: "close", childId: "child", previous: RUNNING };
    const closing = after(helping("close"), closeHelper("child"));
    // The call closes it, unless its journal was read first.
    const direct = decided(closing, step("close", close, "dispatched"));
    expect(types(direct.records).filter((type) => type === "helperClosed")).toHaveLength(1);
    expect(direct.state.helpers).toMatchObject({ open: [], news: [] });
    const read = decided(closing, heard("child", 5, [], true));
    expect(read.state.helpers).toMatchObject({ open: [], news: [] });
    const second = decided(read.state, step("close", close, "dispatched"));
    expect(types(second.records)).not.toContain("helperClosed");
    expect(types(second.records)).not.toContain("itemsInjected");
    // A call that closes another helper does not speak of this one.
    const untold = decided(after(helping("close"), closeHelper("other")), heard("child", 5, [], true));
    expect(untold.state.helpers.news.map(({ childId }) => childId)).toEqual(["child"]);
  });

  it("by close_agent is the answer to that, and to those who wait for it", () => {
    const closing = after(helping("close", "wait"), step("wait", wait("child")), closeHelper("child"));
    const help: Help = { kind: "close", childId: "child", previous: RUNNING };
    const expected = [
      ["wait", result("child", "shutdown")],
      ["close", JSON.stringify({ previous_status: "running" })],
    ];
    const direct = decided(closing, step("close", help, "dispatched"));
    expect(answers(direct.records)).toEqual(expected);
    expect(types(direct.records).filter((type) => type === "sampleRequested")).toHaveLength(1);
    // The helper's journal may be read first.
    const first = decided(closing, heard("child", 5, [], true));
    const second = decided(first.state, step("close", help, "dispatched"));
    expect([...answers(first.records), ...answers(second.records)]).toEqual(expected);
    expect(second.state.helpers).toMatchObject({ open: [], news: [] });
    expect(types(second.records).filter((type) => type === "sampleRequested")).toHaveLength(1);
  });

  it("is not for a reviewer, who is not called again for it", () => {
    const reviewing = after(
      after(helping(), { kind: "interrupt", at: 6, turnId: null }, heard("child", 5, [DONE])),
      { kind: "startReview", at: 8, turnId: "turn-2", label: "changes", prompt: "Review." },
    );
    const spoken = endModelCall(9, "turn-2") as Extract<Command, { kind: "sampled" }>;
    const outcome = { ...spoken.outcome, review: "Fine." } as typeof spoken.outcome;
    const { state } = decided(reviewing, { ...spoken, outcome });
    expect([state.turn, state.helpers.news.length]).toEqual([null, 1]);
  });

  it("is forgotten if far too many others came after it, and nobody was there to be told", () => {
    const ended = after(helping(), { kind: "interrupt", at: 6, turnId: null });
    const many = Array.from({ length: 100 }, (_, nth) => heard("child", 5 + nth, [RUNNING, DONE]));
    expect(after(ended, ...many).helpers.news.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 64 }, (_, nth) => 41 + nth),
    );
  });

  it("outlives the load of its parent as news, and the helper does not", () => {
    const { state } = decided(helping(), heard("child", 5, [DONE]));
    const closed = after(state, { kind: "close", at: 9, reason: "requested" });
    expect(closed.helpers).toMatchObject({ open: [], news: [{ childId: "child" }], had: true });
  });
});

describe("the item of a call about helpers", () => {
  const itemOf = (records: readonly ThreadRecord[]): unknown =>
    records.flatMap((record) => (record.type === "itemCompleted" ? [record.item] : []))[0];
  const shown = (...childIds: readonly string[]): Command => ({
    kind: "stepCall",
    at: 4,
    turnId: "turn-1",
    callId: "wait",
    from: "proposed",
    step: {
      kind: "help",
      help: wait(...childIds),
      item: {
        type: "collabAgentToolCall",
        id: "wait",
        tool: "wait",
        status: "inProgress",
        senderThreadId: "t",
        receiverThreadIds: [],
        prompt: null,
        model: null,
        reasoningEffort: null,
        agentsStates: {},
        startedAtMs: 4,
        completedAtMs: null,
      },
    },
  });

  it("names the helpers that it was about, and what became of each", () => {
    const waiting = after(helping("wait"), shown("child"));
    expect(itemOf(decided(waiting, heard("child", 5, [DONE])).records)).toMatchObject({
      type: "collabAgentToolCall",
      status: "completed",
      receiverThreadIds: ["child"],
      agentsStates: { child: DONE },
    });
    expect(itemOf(decided(calling("wait"), shown("nobody")).records)).toMatchObject({
      status: "failed",
      receiverThreadIds: ["nobody"],
      agentsStates: { nobody: { status: "notFound", message: null } },
    });
  });
});

describe("a wait for a helper", () => {
  it("for one that is not there ends at once", () => {
    const { records } = decided(calling("wait"), step("wait", wait("nobody")));
    expect(answers(records)).toEqual([["wait", result("nobody", "not_found")]]);
  });

  it("ends early when somebody speaks, and the model hears that after it", () => {
    const waiting = after(helping("wait"), step("wait", wait("child")));
    const { records, state } = decided(waiting, {
      kind: "steer",
      at: 8,
      expectedTurnId: "turn-1",
      userItemId: "item",
      clientUserMessageId: null,
      input: [{ type: "text", text: "and?", text_elements: [] }],
    });
    expect(answers(records)[0]![1]).toContain("The wait ended early");
    expect(types(records).at(-1)).toBe("sampleRequested");
    expect(state.helpers.open[0]?.state).toEqual(RUNNING);
    expect(state.rap.late).toEqual([]);
  });
});
