import type { Thread, ThreadItem, Turn } from "@bobbin/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reduceThread } from "./reduce-thread.ts";
import { currentItem } from "./running-item.ts";
import { emptyThread, runningTurn, type ThreadEvent, type ThreadState } from "./thread-state.ts";

const THREAD = "thread";
const TURN = "turn-1";

/** A notification about the thread. */
function told(method: string, params: object = {}): ThreadEvent {
  return { method, params: { threadId: THREAD, turnId: TURN, ...params } } as unknown as ThreadEvent;
}

const fold = (state: ThreadState, ...events: ThreadEvent[]) => events.reduce(reduceThread, state);

const message = (id: string, text = "", completedAtMs: number | null = null): ThreadItem => ({
  type: "agentMessage",
  id,
  text,
  delivery: null,
  memoryCitation: null,
  phase: null,
  questions: null,
  startedAtMs: 1,
  completedAtMs,
});

const userMessage = (id: string): ThreadItem => ({
  type: "userMessage",
  id,
  clientId: null,
  content: [{ type: "text", text: "hi" }],
  startedAtMs: 1,
  completedAtMs: null,
});

const command = (id: string): ThreadItem => ({
  type: "commandExecution",
  id,
  command: "ls",
  commandActions: [],
  cwd: "/",
  aggregatedOutput: null,
  durationMs: null,
  exitCode: null,
  pluginId: null,
  processId: null,
  scriptPath: null,
  source: "agent",
  status: "inProgress",
  startedAtMs: 1,
  completedAtMs: null,
});

const turn = (status: Turn["status"], items: ThreadItem[] = [], id = TURN): Turn => ({
  id,
  rootTurnId: id,
  items,
  itemsView: "full",
  status,
  error: null,
  startedAt: 1,
  completedAt: null,
  durationMs: null,
});

const began = told("turn/started", { turn: turn("inProgress") });
const ended = (status: Turn["status"] = "completed") => told("turn/completed", { turn: turn(status) });
const starts = (item: ThreadItem) => told("item/started", { item });
const completes = (item: ThreadItem) => told("item/completed", { item });
const says = (itemId: string, delta: string) => told("item/agentMessage/delta", { itemId, delta });

/** A reply to `thread/resume`, as far as the reducer looks at it. */
function loaded(turns: Turn[], more: object = {}): ThreadEvent {
  const thread = { id: THREAD, name: null, status: { type: "idle" }, turns } as unknown as Thread;
  return { type: "loaded", result: { thread, model: "m", ...more } } as unknown as ThreadEvent;
}

const texts = (state: ThreadState) =>
  state.turns
    .flatMap(({ items }) => items.map((item) => currentItem(state, item)))
    .map((item) => (item.type === "agentMessage" ? item.text : item.type));

describe("reduceThread", () => {
  it("keeps items in the order in which they started, with their streamed text", () => {
    const state = fold(
      emptyThread(THREAD),
      began,
      starts(message("a")),
      starts(message("b")),
      says("b", "two"),
      says("a", "one"),
      completes(message("b", "two!", 2)),
    );
    expect(texts(state)).toEqual(["one", "two!"]);
    expect([...state.running.keys()]).toEqual(["a"]);
    expect(runningTurn(state)?.id).toBe(TURN);
    expect(runningTurn(fold(state, ended()))).toBeUndefined();
  });

  it("returns the same state for what concerns other threads, and never changes the state before", () => {
    const state = fold(emptyThread(THREAD), began, starts(message("a")), says("a", "one"));
    const frozen = JSON.stringify({ ...state, running: [...state.running] });
    expect(reduceThread(state, told("item/agentMessage/delta", { threadId: "other" }))).toBe(state);
    expect(reduceThread(state, { method: "skills/changed", params: {} } as ThreadEvent)).toBe(state);
    fold(state, says("a", "more"), completes(message("a", "x")), ended());
    expect(JSON.stringify({ ...state, running: [...state.running] })).toBe(frozen);
  });

  it("copies neither turns nor items for a delta", () => {
    const before = fold(emptyThread(THREAD), began, starts(message("a")));
    const after = fold(before, says("a", "x"), says("a", "y"));
    expect(after.turns).toBe(before.turns);
    expect(texts(after)).toEqual(["xy"]);
  });

  it("ends an answer that was broken off with the text that was seen", () => {
    const steered = fold(
      emptyThread(THREAD),
      began,
      starts(message("a")),
      says("a", "half"),
      starts(userMessage("u")),
    );
    expect(texts(steered)).toEqual(["half", "userMessage"]);
    expect(steered.running.has("a")).toBe(false);
    const interrupted = fold(steered, starts(message("b")), says("b", "ha"), ended("interrupted"));
    expect(texts(interrupted)).toEqual(["half", "userMessage", "ha"]);
    expect(interrupted.running.has("b")).toBe(false);
    expect(interrupted.stale.turns).toBe(false);
  });

  it("lets a command run on after its turn, until it completes", () => {
    const output = told("item/commandExecution/outputDelta", { itemId: "c", delta: "out\n" });
    const running = fold(emptyThread(THREAD), began, starts(command("c")), output, ended(), output);
    const [item] = running.turns[0]!.items;
    expect(currentItem(running, item!)).toMatchObject({ aggregatedOutput: "out\nout\n" });
    const done = { ...command("c"), status: "completed", aggregatedOutput: "out", exitCode: 0 } as ThreadItem;
    const state = fold(running, completes(done));
    expect(state.running.size).toBe(0);
    expect(state.turns[0]!.items).toEqual([done]);
  });

  it("bounds a running command's output to its end", () => {
    let state = fold(emptyThread(THREAD), began, starts(command("c")));
    const delta = "x".repeat(64 * 1024);
    for (let n = 0; n < 100; n++) {
      state = fold(state, told("item/commandExecution/outputDelta", { itemId: "c", delta: `${n} ${delta}` }));
    }
    const { text } = state.running.get("c")!;
    expect(text.length).toBeLessThanOrEqual(2 * 1024 * 1024);
    expect(text.endsWith(`99 ${delta}`)).toBe(true);
  });

  it("collects the parts of reasoning", () => {
    const reasoning: ThreadItem = { type: "reasoning", id: "r", summary: [], content: [], startedAtMs: 1 };
    const state = fold(
      emptyThread(THREAD),
      began,
      starts(reasoning),
      told("item/reasoning/summaryPartAdded", { itemId: "r", summaryIndex: 0 }),
      told("item/reasoning/summaryTextDelta", { itemId: "r", summaryIndex: 0, delta: "a" }),
      told("item/reasoning/summaryTextDelta", { itemId: "r", summaryIndex: 2, delta: "c" }),
      told("item/reasoning/textDelta", { itemId: "r", contentIndex: 0, delta: "raw" }),
    );
    expect(currentItem(state, reasoning)).toMatchObject({ summary: ["a", "", "c"], content: ["raw"] });
  });

  it("keeps questions until they are resolved, one for each id", () => {
    const ask = (id: number, itemId: string): ThreadEvent =>
      ({
        id,
        method: "item/fileChange/requestApproval",
        params: { threadId: THREAD, itemId },
      }) as unknown as ThreadEvent;
    const asked = fold(emptyThread(THREAD), ask(1, "a"), ask(2, "b"), ask(1, "a"));
    expect(asked.requests.map(({ id }) => id)).toEqual([1, 2]);
    const resolved = fold(asked, told("serverRequest/resolved", { requestId: 1 }));
    expect(resolved.requests.map(({ id }) => id)).toEqual([2]);
    expect(fold(resolved, told("thread/closed")).requests).toEqual([]);
  });

  it("has the plan, the diff, a retry, and the error of a turn", () => {
    const plan = [{ step: "s", status: "pending" }];
    const state = fold(
      emptyThread(THREAD),
      began,
      told("turn/plan/updated", { explanation: "e", plan }),
      told("turn/diff/updated", { diff: "d" }),
      told("error", { error: { message: "later" }, willRetry: true }),
    );
    expect(state.turns[0]).toMatchObject({
      plan: { explanation: "e", steps: plan },
      diff: "d",
      retrying: { message: "later" },
    });
    expect(fold(state, starts(message("a"))).turns[0]!.retrying).toBeNull();
    const error = { message: "never" };
    const failed = fold(state, told("turn/completed", { turn: { ...turn("failed"), error } }));
    expect(failed.turns[0]).toMatchObject({ status: "failed", error, diff: "d", retrying: null });
  });

  it("follows name, status, usage, goal, settings, queue and where the thread is kept", () => {
    const state = fold(
      emptyThread(THREAD),
      told("thread/name/updated", { threadName: "n" }),
      told("thread/status/changed", { status: { type: "idle" } }),
      told("thread/tokenUsage/updated", { tokenUsage: { modelContextWindow: 7 } }),
      told("thread/goal/updated", { goal: { objective: "o" } }),
      told("thread/settings/updated", {
        threadSettings: { model: "m", sandboxPolicy: { type: "readOnly" } },
      }),
      told("thread/queue/changed"),
      told("thread/archived"),
      told("warning", { message: "w" }),
    );
    expect(state).toMatchObject({
      name: "n",
      status: { type: "idle" },
      tokenUsage: { modelContextWindow: 7 },
      goal: { objective: "o" },
      settings: { model: "m", sandbox: { type: "readOnly" } },
      stale: { queue: true, turns: false },
      archived: true,
      warnings: ["w"],
    });
    const submissions = [{ id: "q", clientUserMessageId: "m", input: [] }];
    const later = fold(
      state,
      { type: "queue", submissions },
      told("thread/goal/cleared"),
      told("thread/name/updated", { threadName: null }),
      told("thread/unarchived"),
    );
    expect(later).toMatchObject({ queue: submissions, goal: null, name: null, archived: false });
    expect(later.stale.queue).toBe(false);
    expect(fold(later, told("thread/reverted")).stale.turns).toBe(true);
  });

  it("takes the text of a running item anew after a replay, and its cut end from the history", () => {
    const away = fold(emptyThread(THREAD), began, starts(message("a")), says("a", "seen"));
    const back = fold(away, loaded([], { replay: { gap: false } }));
    expect(texts(back)).toEqual(["seen"]);
    expect(texts(fold(back, says("a", "seen and"), says("a", " more")))).toEqual(["seen and more"]);
    const cut = fold(back, ended("interrupted"));
    expect(texts(cut)).toEqual(["seen"]);
    expect(cut.stale.turns).toBe(true);
  });

  it("asks for the turns after a gap, and keeps running text of a thread that it follows", () => {
    const away = fold(emptyThread(THREAD), told("thread/name/updated", { cursor: "1.2.3" }), began);
    expect(away.cursor).toBe("1.2.3");
    const gap = fold(away, loaded([], { replay: { gap: true } }));
    expect(gap).toMatchObject({ stale: { turns: true }, cursor: null });
    const running = fold(gap, starts(message("a")), says("a", "text"));
    const reply = loaded([turn("inProgress", [message("a")])]);
    expect(texts(fold(running, reply))).toEqual([""]);
    expect(texts(fold(running, { ...reply, again: true } as ThreadEvent))).toEqual(["text"]);
  });

  it("puts pages of older turns before those that it has, each once", () => {
    const state = fold(emptyThread(THREAD), loaded([turn("completed", [], "t3")]));
    const older = [turn("completed", [], "t1"), turn("completed", [], "t2"), turn("completed", [], "t3")];
    const whole = fold(state, { type: "olderTurns", turns: older });
    expect(whole.turns.map(({ id }) => id)).toEqual(["t1", "t2", "t3"]);
    expect(fold(whole, { type: "olderTurns", turns: older })).toBe(whole);
  });

  it("gives the same text however it is cut into deltas", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 30 }), (pieces) => {
        const state = fold(
          emptyThread(THREAD),
          began,
          starts(message("a")),
          ...pieces.map((piece) => says("a", piece)),
        );
        expect(texts(state)).toEqual([pieces.join("")]);
      }),
    );
  });
});
