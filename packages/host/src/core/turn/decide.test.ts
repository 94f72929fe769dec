import type { ThreadItem, TurnError, UserInput } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { after, endModelCall, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import { Fault } from "../../errors.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState, TurnState } from "../state.ts";
import type { CallState } from "./call-stages.ts";
import type { TurnCommand } from "./commands.ts";
import { decideTurn } from "./decide.ts";

const TURN = "turn-1";
const NONE = new Map<string, string>();
const idle = newThread();
const running = after(idle, startTurn(TURN));
const withTurn = (fields: Partial<TurnState>, more: Partial<ThreadState> = {}): ThreadState => {
  return { ...running, ...more, turn: { ...running.turn!, ...fields } };
};
const compacting = withTurn({
  kind: "compact",
  phase: { kind: "compacting", due: null, how: { covers: "all", lighter: 0, because: null } },
});

/** The records, or the code of the refusal. */
function outcome(state: ThreadState, command: TurnCommand): readonly ThreadRecord[] | string {
  const decision = decideTurn(state, command, NONE);
  return decision instanceof Fault ? decision.code : decision;
}
const typesOf = (state: ThreadState, command: TurnCommand): readonly string[] | string => {
  const decision = outcome(state, command);
  return typeof decision === "string" ? decision : decision.map(({ type }) => type);
};
const call = (callId: string, settled: boolean): CallState => ({
  call: { callId, name: "act", namespace: null, arguments: "{}", kind: "function" },
  stage: settled ? { kind: "settled" } : { kind: "proposed" },
});
const sampling = (...calls: readonly CallState[]): Partial<TurnState> => ({
  phase: { kind: "sampling", due: null, shown: false, calls },
});
const input: UserInput[] = [{ type: "text", text: "more", text_elements: [] }];

describe("input", () => {
  const steer = (more: object = {}): TurnCommand => ({
    kind: "steer",
    at: 5,
    expectedTurnId: TURN,
    userItemId: "v",
    clientUserMessageId: null,
    input,
    ...more,
  });

  it("starts a turn, with the changes and the ids that it comes with", () => {
    const blobs = { picture: "b" } as unknown as NonNullable<
      Extract<TurnCommand, { kind: "startTurn" }>["blobs"]
    >;
    const records = outcome(idle, {
      ...(startTurn(TURN, 3) as Extract<TurnCommand, { kind: "startTurn" }>),
      clientUserMessageId: "client",
      outputSchema: { type: "object" },
      rootTurnId: "root",
      changes: { model: "other" },
      blobs,
    });
    const content = [{ type: "text", text: "go", text_elements: [] }];
    const item = {
      type: "userMessage",
      id: "u",
      clientId: "client",
      content,
      startedAtMs: 3,
      completedAtMs: null,
    };
    expect(records).toEqual([
      { type: "settingsChanged", at: 3, settings: { ...idle.settings, model: "other" } },
      {
        type: "turnStarted",
        turnId: TURN,
        at: 3,
        input: content,
        outputSchema: { type: "object" },
        rootTurnId: "root",
      },
      { type: "inputAccepted", turnId: TURN, messageId: "client" },
      { type: "itemStarted", turnId: TURN, at: 3, item },
      { type: "itemCompleted", turnId: TURN, at: 3, item: { ...item, completedAtMs: 3 }, blobs },
      { type: "sampleRequested", turnId: TURN, attempt: 1 },
    ]);
    expect(typesOf(idle, startTurn())).toEqual([
      "turnStarted",
      "itemStarted",
      "itemCompleted",
      "sampleRequested",
    ]);
  });

  it("is taken once, whichever id it has", () => {
    const accepted = [{ id: "known", turnId: "turn-0" }];
    for (const state of [
      { ...idle, accepted },
      { ...running, accepted },
    ]) {
      const start = startTurn() as Extract<TurnCommand, { kind: "startTurn" }>;
      expect(outcome(state, { ...start, clientUserMessageId: "known" })).toEqual([]);
      expect(outcome(state, { ...start, inputId: "known" })).toEqual([]);
      expect(outcome(state, { ...start, inputId: "other" })).not.toEqual([]);
      expect(outcome(state, steer({ clientUserMessageId: "known" }))).toEqual([]);
    }
  });

  it("is added to the turn that runs, and the model is called again", () => {
    const open = [{ type: "agentMessage", id: "m", text: "" } as unknown as ThreadItem];
    for (const command of [startTurn("turn-2"), steer()]) {
      expect(outcome(withTurn({ open }), command)).toMatchObject([
        { type: "itemCompleted", turnId: TURN, item: { id: "m" }, cut: "input" },
        { type: "itemStarted", turnId: TURN },
        { type: "itemCompleted", turnId: TURN },
        { type: "sampleRequested", turnId: TURN, attempt: 2 },
      ]);
    }
    const changed = { ...startTurn("turn-2"), changes: { model: "other" } } as TurnCommand;
    expect(typesOf(running, changed)).toContain("settingsChanged");
  });

  it("waits for the end of tools and of a compaction", () => {
    expect(typesOf(withTurn(sampling(call("a", false))), steer())).toEqual(["itemStarted", "itemCompleted"]);
    expect(typesOf(withTurn(sampling(call("a", true))), steer())).toContain("sampleRequested");
    const state = withTurn({ ...compacting.turn!, kind: "regular" });
    expect(typesOf(state, steer())).toEqual(["itemStarted", "itemCompleted"]);
  });

  it("is refused without a turn, for another turn, if it is empty, and by turns that take none", () => {
    expect(outcome(idle, steer())).toBe("noActiveTurnToSteer");
    expect(outcome(running, steer({ expectedTurnId: "turn-0" }))).toBe("steerMismatch");
    expect(outcome(running, steer({ input: [] }))).toBe("inputEmpty");
    for (const command of [startTurn("turn-2"), steer()]) {
      expect(outcome(compacting, command)).toEqual(expect.any(String));
      expect(outcome(withTurn({ kind: "review" }), command)).toEqual(expect.any(String));
    }
  });
});

describe("settings of a turn", () => {
  it("change in the turn that runs, if there is a change", () => {
    const command = { kind: "changeTurnSettings", at: 5, turnId: TURN, changes: { model: "m2" } } as const;
    expect(outcome(running, command)).toEqual([
      { type: "turnSettingsChanged", turnId: TURN, at: 5, changes: { model: "m2" } },
    ]);
    expect(outcome(running, { ...command, changes: {} })).toEqual([]);
    expect(outcome(running, { ...command, turnId: "turn-0" })).toEqual([]);
    expect(outcome(idle, command)).toEqual([]);
  });
});

describe("an interrupt", () => {
  const interrupt = (turnId: string | null): TurnCommand => ({ kind: "interrupt", at: 5, turnId });
  const ended = (status: "interrupted" | "completed"): ThreadState => ({
    ...idle,
    lastTurn: { id: TURN, status },
  });

  it("ends the turn that runs, and no other", () => {
    for (const id of [TURN, null])
      expect(outcome(running, interrupt(id))).toMatchObject([{ type: "turnEnded", status: "interrupted" }]);
    expect(outcome(running, interrupt("turn-0"))).toBe("turnIdMismatch");
  });

  it("may come twice, and is refused if the turn has ended otherwise", () => {
    expect(outcome(idle, interrupt(null))).toEqual([]);
    expect(outcome(ended("interrupted"), interrupt(TURN))).toEqual([]);
    expect(outcome(ended("completed"), interrupt(TURN))).toBe("noActiveTurnToInterrupt");
    expect(outcome(ended("interrupted"), interrupt("turn-0"))).toBe("noActiveTurnToInterrupt");
    expect(outcome(idle, interrupt(TURN))).toBe("noActiveTurnToInterrupt");
  });
});

describe("what comes from a model call", () => {
  const called = {
    kind: "toolCalled",
    at: 5,
    turnId: TURN,
    attempt: 1,
    call: call("a", false).call,
  } as const;
  it("is a call of a tool while the model answers, with an id of its own", () => {
    expect(outcome(running, called)).toEqual([
      { type: "toolCalled", at: 5, turnId: TURN, call: called.call },
    ]);
    expect(outcome({ ...running, callIds: ["a"] }, called)).toMatchObject([{ call: { callId: "a-2" } }]);
    expect(outcome(withTurn({ phase: { kind: "ending" } }), called)).toEqual([]);
  });

  it("is no end while no answer is due, and no summary while none is made", () => {
    expect(outcome(withTurn({ phase: { kind: "ending" } }), endModelCall())).toEqual([]);
    const summary = {
      kind: "summarised",
      at: 5,
      turnId: TURN,
      attempt: 1,
      outcome: {},
    } as unknown as TurnCommand;
    expect(outcome(running, summary)).toEqual([]);
  });

  it("is a compaction, of the past or of everything", () => {
    const first = { kind: "compactFirst", at: 5, turnId: TURN, attempt: 1 } as const;
    expect(outcome(running, first)).toMatchObject([{}, { type: "compactionRequested", covers: "past" }]);
    expect(outcome(withTurn({ answers: 1 }), first)).toMatchObject([{}, { covers: "all" }]);
    expect(outcome(withTurn({ compacted: "done" }), first)).toEqual([]);
  });

  it.each([
    ["gpt-5", "gpt-5", false],
    ["gpt-5", "GPT-5", false],
    ["gpt-5", "openai/gpt-5-2025", false],
    ["openai/gpt-5", "gpt-5", false],
    ["gpt-5", "gpt-55", true],
    ["gpt-5", "other", true],
  ])("says for %s that %s answers: another one: %s", (model, served, isOther) => {
    const state = { ...running, settings: { ...running.settings, model } };
    const command = { kind: "modelServed", at: 5, turnId: TURN, attempt: 1, model: served } as const;
    const rerouted = { type: "modelRerouted", turnId: TURN, at: 5, from: model, to: served };
    expect(outcome(state, command)).toEqual(isOther ? [rerouted] : []);
    const known = { ...state, turn: { ...running.turn!, servedBy: served } };
    expect(outcome(known, command)).toEqual([]);
  });
});

describe("texts and diffs", () => {
  it("are saved for items that are open", () => {
    const save = { kind: "saveText", turnId: TURN, itemId: "m", text: "words" } as const;
    const open = [{ type: "agentMessage", id: "m" } as unknown as ThreadItem];
    const saved = [{ type: "textSaved", turnId: TURN, itemId: "m", text: "words" }];
    expect(outcome(withTurn({ open }), save)).toEqual(saved);
    expect(outcome(withTurn({ open }), { ...save, itemId: "n" })).toEqual([]);
    expect(outcome(withTurn({ open }), { ...save, turnId: "turn-0" })).toEqual([]);
    const terminals = [{ item: open[0] }] as unknown as ThreadState["terminals"];
    expect(outcome({ ...idle, terminals }, save)).toEqual(saved);
    expect(outcome(idle, save)).toEqual([]);
  });

  it("are shown for turns that may have changed files", () => {
    const show = {
      kind: "showDiff",
      at: 5,
      turnId: TURN,
      upTo: 1,
      diff: "d",
      digest: "x",
    } as unknown as TurnCommand;
    expect(outcome(running, show)).toEqual([]);
    const changes = { before: [], ended: 1, shown: 0, digest: null, sent: 0 };
    expect(outcome(withTurn({ changes }), show)).toEqual([
      { type: "turnDiffed", at: 5, turnId: TURN, upTo: 1, diff: "d", digest: "x" },
    ]);
  });

  it("are not answers to requests that are not there", () => {
    const answer = { kind: "answer", at: 5, requestId: 3, answer: { kind: "cleared" } } as const;
    expect(outcome(running, answer)).toEqual([]);
    const request = { id: 3, callId: "a", method: "item/tool/requestUserInput", params: {} };
    const requests = [request] as unknown as ThreadState["requests"];
    expect(outcome({ ...running, requests }, answer)).toMatchObject([
      { type: "requestResolved", requestId: 3 },
    ]);
  });
});

describe("the end of a model call", () => {
  const done = endModelCall(5, TURN);
  it("ends the turn, or calls the model again for what it has not seen", () => {
    const message = { type: "agentMessage", id: "m" } as unknown as ThreadItem;
    expect(outcome(withTurn({ answer: message }), done)).toMatchObject([
      { type: "usageReported", turnId: TURN },
      { type: "turnEnded", status: "completed", error: null, answer: message },
    ]);
    const again = ["usageReported", "sampleRequested"];
    expect(typesOf(withTurn({ injected: true }), done)).toEqual(again);
    expect(typesOf(withTurn(sampling(call("a", true))), done)).toEqual(again);
    expect(typesOf(withTurn(sampling(call("a", true), call("b", false))), done)).toEqual(["usageReported"]);
    const helpers = { ...running.helpers, news: [{}] } as unknown as ThreadState["helpers"];
    expect(typesOf(withTurn({}, { helpers }), done)).toEqual(again);
    expect(typesOf(withTurn({ kind: "review" }, { helpers }), done)).toContain("turnEnded");
  });

  it("runs the last hooks of a regular turn first", () => {
    const lastHooks = { event: "stop" };
    const command = { ...done, lastHooks } as unknown as TurnCommand;
    expect((outcome(running, command) as readonly ThreadRecord[])[1]).toEqual({
      type: "lastHooksDue",
      turnId: TURN,
      at: 5,
      event: lastHooks,
    });
    expect(typesOf(withTurn({ kind: "review" }), command)).not.toContain("lastHooksDue");
  });

  it("adds its tokens to the thread's", () => {
    const { usage } = (done as Extract<TurnCommand, { kind: "sampled" }>).outcome as never as {
      usage: NonNullable<ThreadState["usage"]>["last"];
    };
    const total = { ...usage, totalTokens: 10 };
    const used = { ...running, usage: { total, last: usage, modelContextWindow: 1 } };
    expect(outcome(used, done)).toMatchObject([
      { usage: { total: { totalTokens: 11 }, last: usage, modelContextWindow: null } },
      {},
    ]);
  });

  it("is the result of a review, unless the model has called tools", () => {
    const review = {
      ...done,
      outcome: { ...(done as never as { outcome: object }).outcome, review: "fine" },
    };
    const items = (state: ThreadState) =>
      (outcome(state, review as TurnCommand) as readonly ThreadRecord[]).flatMap((record) =>
        record.type === "itemCompleted" ? [record.item.type] : [],
      );
    expect(items(withTurn({ kind: "review" }))).toEqual(["exitedReviewMode", "agentMessage"]);
    expect(items(withTurn({ kind: "review", ...sampling(call("a", true)) }))).toEqual([]);
    expect(items(running)).toEqual([]);
  });
});

describe("a model call that failed", () => {
  const failed = (
    info: TurnError["codexErrorInfo"],
    retry?: { readonly of: number; readonly afterMs: number },
  ) => {
    const error = { message: "no", codexErrorInfo: info, additionalDetails: null, misalignment: null };
    const outcome = { kind: "failed", error, ...(retry && { retry }) } as const;
    return { kind: "sampled", at: 5, turnId: TURN, attempt: 1, outcome } satisfies TurnCommand;
  };
  const retry = { of: 2, afterMs: 10 };

  it.each<[string, Partial<TurnState>, TurnCommand, readonly string[]]>([
    ["is made again", { retries: 1 }, failed("other", retry), ["sampleRequested", "retrying"]],
    ["ends the turn after the last retry", { retries: 2 }, failed("other", retry), ["turnEnded"]],
    ["ends the turn if no retry helps", {}, failed("other"), ["turnEnded"]],
    ["waits for its tools first", sampling(call("a", false)), failed("other", retry), ["sampleLost"]],
    [
      "is made again after its tools",
      sampling(call("a", true)),
      failed("other", retry),
      ["sampleRequested", "retrying"],
    ],
    [
      "is made again after a compaction",
      {},
      failed("contextWindowExceeded", retry),
      ["itemStarted", "compactionRequested"],
    ],
    ["has no second compaction", { compacted: "done" }, failed("contextWindowExceeded"), ["turnEnded"]],
    [
      "has no compaction while tools run",
      sampling(call("a", false)),
      failed("contextWindowExceeded"),
      ["turnEnded"],
    ],
  ])("%s", (_, fields, command, types) => {
    expect(typesOf(withTurn(fields), command)).toEqual(types);
  });

  it("names the refusal of the conversation as the reason of the compaction", () => {
    const command = failed("contextWindowExceeded");
    const open = [{ type: "agentMessage", id: "m" } as unknown as ThreadItem];
    expect(outcome(withTurn({ open, answers: 1 }), command)).toMatchObject([
      { type: "itemCompleted", cut: "fault" },
      { type: "itemStarted" },
      { type: "compactionRequested", covers: "all", lighter: 0, because: command.outcome.error },
    ]);
  });
});
