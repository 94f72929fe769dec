import { describe, expect, it } from "vitest";
import {
  callingHelpers,
  HELPER_DONE,
  HELPER_RUNNING,
  hearHelper,
  helperMade,
  helping,
  spawnHelper,
  stepHelp,
  waitForHelpers,
} from "../../../../../test/support/helping-thread.ts";
import { after, decided, newThread } from "../../../../../test/support/test-thread.ts";
import { steerTurn } from "../../../../../test/support/tool-server-thread.ts";
import type { Command } from "../commands.ts";
import { fold } from "../fold.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { spawnSettled } from "./helper-call-outcomes.ts";
import type { Help } from "./helper-calls.ts";
import { permissionsOf } from "./helper-thread-state.ts";

const of = <T extends ThreadRecord["type"]>(records: readonly ThreadRecord[], type: T) =>
  records.filter((record) => record.type === type) as Extract<ThreadRecord, { type: T }>[];
const itemOf = (id: string) => ({
  type: "collabAgentToolCall",
  id,
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
});
const NOT_FOUND = { status: "notFound", message: null };

/** What a step on helpers does with its call: the answer, and the item if the call is shown. */
function outcome(state: ThreadState, help: Help, callId = "call") {
  const { records, state: next } = decided(state, stepHelp(callId, help, "proposed", itemOf(callId)));
  const [answer] = of(records, "toolAnswered");
  const [completed] = of(records, "itemCompleted");
  return { records, state: next, answer, item: completed?.item };
}

describe("a spawned helper", () => {
  it("is the first that the thread ever had", () => {
    expect([newThread(), helping()].map(({ helpers }) => helpers.had)).toEqual([false, true]);
  });

  it("waits to be made, with all that it needs for that", () => {
    const help: Help = { ...spawnHelper("child", "call"), role: "explorer" };
    const { records, state } = outcome(callingHelpers("call"), help);
    const { kind: _, limit: __, ...due } = help;
    expect(of(records, "helperDue")).toEqual([{ type: "helperDue", at: 4, ...due }]);
    expect(of(records, "toolWaiting")).toEqual([
      {
        type: "toolWaiting",
        turnId: "turn-1",
        at: 4,
        callId: "call",
        until: null,
        awaits: { kind: "thread", childId: "child" },
      },
    ]);
    expect(state.helpers).toEqual({
      open: [
        {
          childId: "child",
          nickname: "Weft",
          role: "explorer",
          start: help.start,
          state: { status: "pendingInit", message: null },
          heard: 0,
          inputs: [help.input],
          permissions: permissionsOf(state.settings),
        },
      ],
      news: [],
      had: true,
    });
  });

  it("is shown with the model that it uses: its own, else that of its parent", () => {
    const made = (settings: object) => {
      const help = spawnHelper("child", "call");
      const state = outcome(callingHelpers("call"), { ...help, start: { ...help.start, settings } }).state;
      const { records } = decided(state, helperMade("child"));
      expect(of(records, "toolAnswered")).toMatchObject([{ success: true }]);
      return of(records, "itemCompleted")[0]?.item;
    };
    const states = { child: { status: "pendingInit", message: null } };
    const shown = {
      ...itemOf("call"),
      status: "completed",
      receiverThreadIds: ["child"],
      agentsStates: states,
    };
    expect(made({})).toEqual({ ...shown, completedAtMs: 5, model: "m", reasoningEffort: null });
    expect(made({ model: "small", effort: "low" })).toEqual({
      ...shown,
      completedAtMs: 5,
      model: "small",
      reasoningEffort: "low",
    });
  });

  it("answers no call that waits for another one, nor after the turn", () => {
    const due = after(callingHelpers("call"), stepHelp("call", spawnHelper("child", "call")));
    expect(spawnSettled(due, 5, "child")).not.toEqual([]);
    expect(spawnSettled(due, 5, "other")).toEqual([]);
    expect(spawnSettled({ ...due, helpers: { ...due.helpers, open: [] } }, 5, "child")).toEqual([]);
    expect(spawnSettled({ ...due, turn: null }, 5, "child")).toEqual([]);
    expect(spawnSettled(helping(), 5, "child")).toEqual([]);
  });

  it("that cannot be made is refused as an error", () => {
    const due = after(callingHelpers("call"), stepHelp("call", spawnHelper("child", "call")));
    const failed = { kind: "helperFailed", at: 5, childId: "child", why: "no room" } as const;
    const { records } = decided(due, failed);
    expect(of(records, "toolAnswered")).toMatchObject([{ callId: "call", success: false }]);
  });
});

describe("a helper whose thread fails later", () => {
  it("ends with the error, which the model is informed of", () => {
    const failed = { kind: "helperFailed", at: 9, childId: "child", why: "no disk" } as const;
    const state = { status: "errored", message: "no disk" };
    const alone = decided(helping("other"), failed);
    expect(alone.state.helpers).toMatchObject({ open: [], news: [{ childId: "child", seq: 1, state }] });
    expect(alone.records.at(-1)).toEqual({ type: "helperClosed", at: 9, childId: "child" });
    const awaited = after(helping("wait"), stepHelp("wait", waitForHelpers("child")));
    const { records } = decided(awaited, failed);
    expect(of(records, "toolAnswered")[0]?.output).toBe(
      JSON.stringify({ status: { child: { errored: "no disk" } }, timed_out: false }),
    );
  });
});

describe("input for a helper", () => {
  const input = { id: "more", input: [], rootTurnId: "turn-1" };
  const send: Help = { kind: "send", childId: "child", input };

  it("is sent as it is while the permissions stay the same", () => {
    const { records, answer, item, state } = outcome(helping("call"), send);
    expect(of(records, "helperInputSent")).toStrictEqual([
      { type: "helperInputSent", at: 6, childId: "child", input },
    ]);
    expect(answer).toMatchObject({ success: true, output: JSON.stringify({ submission_id: "more" }) });
    expect(item).toMatchObject({ status: "completed", agentsStates: { child: HELPER_RUNNING } });
    expect(state.helpers.open[0]?.inputs).toEqual([input]);
  });

  it("changes the helper's permissions, once, if those of its parent have changed", () => {
    const before = helping("call", "again");
    const cwd = "/elsewhere";
    const moved: ThreadState = { ...before, settings: { ...before.settings, cwd } };
    const permissions = permissionsOf(moved.settings);
    const { records, state } = outcome(moved, send);
    expect(of(records, "helperInputSent")[0]?.input).toEqual({ ...input, permissions });
    expect(state.helpers.open[0]?.permissions).toEqual(permissions);
    expect(of(outcome(state, send, "again").records, "helperInputSent")[0]?.input).toEqual(input);
  });

  it("is taken once, in whatever order", () => {
    const take = (inputId: string, seq: number | null): Command => ({
      kind: "helperInputTaken",
      at: 8,
      childId: "child",
      inputId,
      seq,
    });
    const { helpers, ...state } = helping();
    const inputs = [{ ...input, id: "first" }, input];
    const open = [{ ...helpers.open[0]!, state: HELPER_DONE, heard: 5, inputs }];
    const two: ThreadState = { ...state, helpers: { ...helpers, open } };
    expect(decided(two, take("unknown", 9)).records).toEqual([]);
    const first = decided(two, take("more", 9));
    expect(first.records).toEqual([
      { type: "helperInputTaken", at: 8, childId: "child", inputId: "more", seq: 9 },
    ]);
    expect(first.state.helpers.open).toMatchObject([{ inputs: [{ id: "first" }], state: HELPER_RUNNING }]);
    // The parent has read the journal up to commit 5.
    for (const seq of [5, null])
      expect(after(two, take("more", seq)).helpers.open[0]?.state).toEqual(HELPER_DONE);
    expect(after(two, take("more", 6)).helpers.open[0]?.state).toEqual(HELPER_RUNNING);
  });

  it("that the journal names as taken is gone, and the rest is left", () => {
    const sent = outcome(helping("call"), send).state;
    const heard = hearHelper("child", 5, [HELPER_RUNNING]) as Extract<Command, { kind: "hearHelper" }>;
    const { records } = decided(sent, { ...heard, taken: ["more", "unknown"] });
    expect(of(records, "helperInputTaken")).toEqual([
      { type: "helperInputTaken", at: 7, childId: "child", inputId: "more", seq: null },
    ]);
    expect(of(decided(sent, heard).records, "helperInputTaken")).toEqual([]);
  });

  it("keeps a helper at work that was heard to end: its next end is news again", () => {
    const sent = outcome(helping("call"), send).state;
    const { state } = decided(sent, hearHelper("child", 5, [HELPER_DONE, HELPER_DONE]));
    expect(state.helpers.news).toHaveLength(2);
    const idle = decided(helping("call"), hearHelper("child", 5, [HELPER_DONE, HELPER_DONE]));
    expect(idle.state.helpers.news).toHaveLength(1);
  });
});

describe("a call about a helper that is not open", () => {
  it.each<[string, Help]>([
    ["send", { kind: "send", childId: "nobody", input: { id: "i", input: [], rootTurnId: "turn-1" } }],
    ["missing", { kind: "missing", childId: "nobody" }],
  ])("fails (%s), and names it", (_, help) => {
    const { answer, item } = outcome(helping("call"), help);
    expect(answer).toMatchObject({ success: false, output: expect.stringContaining("with the id nobody") });
    expect(item).toMatchObject({ status: "failed", agentsStates: { nobody: NOT_FOUND } });
  });
});

describe("a helper that is opened again", () => {
  const open = (childId: string, limit: number): Help => ({
    kind: "open",
    childId,
    nickname: "Warp",
    role: "explorer",
    state: HELPER_DONE,
    heard: 7,
    limit,
  });

  it("is as it was when it was closed", () => {
    const { records, answer, item, state } = outcome(helping("call"), open("old", 2));
    const opened = { childId: "old", nickname: "Warp", role: "explorer", state: HELPER_DONE, heard: 7 };
    expect(of(records, "helperOpened")).toEqual([{ type: "helperOpened", at: 6, ...opened }]);
    expect(answer).toMatchObject({
      success: true,
      output: JSON.stringify({ status: { completed: "Three." } }),
    });
    expect(item).toMatchObject({ agentsStates: { old: HELPER_DONE } });
    expect(state.helpers.open.map(({ childId }) => childId)).toEqual(["child", "old"]);
    const permissions = permissionsOf(state.settings);
    expect(state.helpers.open[1]).toEqual({ ...opened, start: null, inputs: [], permissions });
  });

  it("is refused at the limit, unless it is open already", () => {
    for (const help of [open("old", 1), { kind: "full", limit: 1 } as const]) {
      const { answer, state } = outcome(helping("call"), help);
      expect(answer).toMatchObject({
        success: false,
        output: expect.stringContaining("The limit of 1 open"),
      });
      expect(state.helpers.open).toHaveLength(1);
    }
    const known = outcome(helping("call"), open("child", 1));
    expect(of(known.records, "helperOpened")).toEqual([]);
    expect(known.answer).toMatchObject({ success: true, output: JSON.stringify({ status: "running" }) });
    expect(known.item).toMatchObject({ agentsStates: { child: HELPER_RUNNING } });
  });

  it("takes the place of an entry with its ID", () => {
    const record = {
      type: "helperOpened",
      at: 4,
      nickname: "W",
      role: null,
      state: HELPER_DONE,
      heard: 7,
    } as const;
    const twice = fold(fold(helping(), { ...record, childId: "x" }), { ...record, childId: "child" });
    expect(twice.helpers.open.map(({ childId, heard }) => [childId, heard])).toEqual([
      ["x", 7],
      ["child", 7],
    ]);
  });
});

describe("a wait for helpers", () => {
  it("is completed with its own item when it ends early", () => {
    const state = after(
      helping("x", "wait"),
      stepHelp("x", waitForHelpers("child"), "proposed", { ...itemOf("x"), tool: "other" }),
      stepHelp("wait", waitForHelpers("child"), "proposed", itemOf("wait")),
    );
    const { records } = decided(state, steerTurn());
    const items = of(records, "itemCompleted").filter(({ item }) => item.type === "collabAgentToolCall");
    expect(items.map(({ item }) => item)).toMatchObject([
      { id: "x", tool: "other", status: "completed", agentsStates: {} },
      { id: "wait", tool: "wait", status: "completed", agentsStates: {}, completedAtMs: 6 },
    ]);
    const answers = of(records, "toolAnswered");
    expect(answers.map(({ callId, success }) => [callId, success])).toEqual([
      ["x", true],
      ["wait", true],
    ]);
    expect(JSON.parse(String(answers[0]?.output))).toMatchObject({ status: {}, timed_out: false });
  });

  it("fails if one of several helpers failed", () => {
    const { item, answer } = outcome(
      after(helping("call"), hearHelper("child", 5, [HELPER_DONE])),
      waitForHelpers("child", "nobody"),
    );
    expect(item).toMatchObject({ status: "failed", agentsStates: { child: HELPER_DONE, nobody: NOT_FOUND } });
    expect(answer).toMatchObject({ success: true });
  });

  it("leaves news of the helper that say something else than its answer", () => {
    const state = after(helping("call"), hearHelper("child", 5, [HELPER_DONE]));
    const news = [
      { childId: "child", seq: 3, state: { status: "completed", message: "Two." } },
      { childId: "child", seq: 4, state: { status: "errored", message: "Three." } },
      { childId: "other", seq: 5, state: HELPER_DONE },
      { childId: "child", seq: 5, state: HELPER_DONE },
    ] as const;
    const { records } = outcome({ ...state, helpers: { ...state.helpers, news } }, waitForHelpers("child"));
    const answered = records.slice(
      0,
      records.findIndex(({ type }) => type === "toolAnswered"),
    );
    expect(of(answered, "helperTold")).toEqual([{ type: "helperTold", at: 7, childId: "child", seq: 5 }]);
    const left = fold({ ...state, helpers: { ...state.helpers, news } }, of(answered, "helperTold")[0]!);
    expect(left.helpers.news).toEqual(news.slice(0, 3));
  });
});
