import type { ThreadItem } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { after, decided, newThread, startTurn } from "../../../../test/support/test-thread.ts";
import type { Command } from "./commands.ts";
import { fold } from "./fold.ts";
import { atThreadTime, threadTime, withOrderedItems } from "./monotonic-thread-time.ts";
import type { ThreadRecord } from "./records.ts";
import type { ThreadState } from "./state.ts";
import type { CommandItem } from "./terminals/records.ts";
import { turnCompleted } from "./turn/turn-view.ts";

const DAY = 24 * 60 * 60 * 1000;
const TURN = "turn-1";

/** Applies commands to a thread, and returns the recorded times. */
class Story {
  state: ThreadState = newThread();
  readonly records: ThreadRecord[] = [];

  tell(command: Command): readonly ThreadRecord[] {
    const { state, records } = decided(this.state, command);
    this.state = state;
    this.records.push(...records);
    return records;
  }

  startTurn(at: number, turnId = TURN): void {
    this.tell({
      kind: "startTurn",
      at,
      turnId,
      userItemId: `user-${turnId}`,
      clientUserMessageId: null,
      input: [{ type: "text", text: "go", text_elements: [] }],
      outputSchema: null,
      changes: {},
    });
  }

  interrupt(at: number): Extract<ThreadRecord, { type: "turnEnded" }> {
    const ended = this.tell({ kind: "interrupt", at, turnId: null }).find(({ type }) => type === "turnEnded");
    return ended as Extract<ThreadRecord, { type: "turnEnded" }>;
  }

  get times(): number[] {
    return this.records.flatMap((record) => ("at" in record ? record.at : []));
  }
}

const spoken = (startedAtMs: number, completedAtMs: number | null): ThreadItem => ({
  type: "agentMessage",
  id: "m",
  text: "",
  phase: null,
  memoryCitation: null,
  delivery: null,
  questions: null,
  startedAtMs,
  completedAtMs,
});

const called = (startedAtMs: number, completedAtMs: number | null): ThreadItem => ({
  type: "dynamicToolCall",
  id: "call",
  tool: "lookup",
  namespace: null,
  arguments: {},
  status: completedAtMs === null ? "inProgress" : "completed",
  contentItems: null,
  success: null,
  durationMs: completedAtMs === null ? null : completedAtMs - startedAtMs,
  startedAtMs,
  completedAtMs,
});

describe("a thread's time", () => {
  it("stands still while the clock is behind it, so that no duration is negative", () => {
    const story = new Story();
    story.startTurn(5000);
    const ended = story.interrupt(1000);
    expect(story.times.every((at) => at === 5000)).toBe(true);
    expect(turnCompleted(ended)).toMatchObject({ startedAt: 5, completedAt: 5, durationMs: 0 });
    story.startTurn(4000, "turn-2");
    expect(story.state.turn!.startedAt).toBe(5000);
    story.interrupt(7000);
    expect(story.state.updatedAt).toBe(7000);
  });

  it("follows the clock back between turns when it was ahead by more than a day", () => {
    const story = new Story();
    story.startTurn(10);
    story.interrupt(20);
    story.startTurn(5 * DAY, "turn-2");
    // During a turn the thread's time does not go back, however far the clock does.
    expect(story.interrupt(DAY).at).toBe(5 * DAY);
    story.startTurn(DAY, "turn-3");
    expect(story.interrupt(DAY + 500)).toMatchObject({ startedAt: DAY, at: DAY + 500 });
    expect(story.state.updatedAt).toBe(DAY + 500);
  });

  it("is ahead of the clock by a day at most, and only between turns by more", () => {
    const time = (ahead: number, from = newThread()) => threadTime({ ...from, lastAt: 500 + ahead }, 500);
    expect(time(DAY - 1)).toBe(500 + DAY - 1);
    expect(time(DAY)).toBe(500 + DAY);
    expect(time(DAY + 1)).toBe(500);
    expect([time(0), time(-1)]).toEqual([500, 500]);
    const running = after(newThread(), startTurn());
    expect(time(DAY + 1, running)).toBe(500 + DAY + 1);
  });

  it("does not show a change before the creation", () => {
    const created = fold(undefined, { type: "created", ...newThread(), at: 9 * DAY });
    const started = fold(created, {
      type: "turnStarted",
      turnId: TURN,
      at: DAY,
      input: [],
      outputSchema: null,
    });
    expect(started.updatedAt).toBe(9 * DAY);
  });

  it("orders an item's times, whichever of them the clock was set back before", () => {
    const story = new Story();
    const item = (kind: "itemStarted" | "itemCompleted", at: number, item: ThreadItem) =>
      story.tell({ kind, at, turnId: TURN, attempt: 1, item });
    story.startTurn(5000);
    expect(item("itemStarted", 6000, spoken(6000, null))).toMatchObject([{ at: 6000 }]);
    expect(item("itemCompleted", 2000, spoken(6000, 2000))).toMatchObject([
      { at: 6000, item: { startedAtMs: 6000, completedAtMs: 6000 } },
    ]);
    expect(item("itemStarted", 3000, { ...spoken(3000, null), id: "n" })).toMatchObject([
      { at: 6000, item: { startedAtMs: 6000, completedAtMs: null } },
    ]);
    expect(item("itemCompleted", 8000, { ...spoken(3000, 8000), id: "n" })).toMatchObject([
      { at: 8000, item: { startedAtMs: 6000, completedAtMs: 8000 } },
    ]);
    item("itemStarted", 9000, called(9000, null));
    expect(item("itemCompleted", 8500, called(9000, 8500))).toMatchObject([
      { at: 9000, item: { startedAtMs: 9000, completedAtMs: 9000, durationMs: 0 } },
    ]);
    expect(story.times).toEqual(story.times.toSorted((one, other) => one - other));
  });

  it("orders the times of a command that ends after a clock was right again", () => {
    const story = new Story();
    const item: CommandItem = {
      type: "commandExecution",
      id: "shell",
      command: "sleep 1",
      cwd: "/work",
      processId: "1",
      source: "userShell",
      status: "inProgress",
      commandActions: [],
      aggregatedOutput: null,
      exitCode: null,
      durationMs: null,
      pluginId: null,
      scriptPath: null,
      startedAtMs: 5 * DAY,
      completedAtMs: null,
    };
    story.startTurn(5 * DAY);
    story.tell({ kind: "startShell", at: 5 * DAY, turnId: TURN, item });
    const usage = { totalTokens: 0, inputTokens: 0, cachedInputTokens: 0, cacheWriteInputTokens: 0 };
    const outcome = {
      kind: "done",
      usage: { ...usage, outputTokens: 0, reasoningOutputTokens: 0 },
      contextWindow: null,
    } as const;
    story.tell({ kind: "sampled", at: 5 * DAY, turnId: TURN, attempt: 1, outcome });
    expect(story.state.terminals).toHaveLength(1);
    const end = { exitCode: 0, output: "" };
    expect(story.tell({ kind: "endCommand", at: DAY, itemId: "shell", end })).toMatchObject([
      { type: "terminalEnded", at: DAY, item: { startedAtMs: DAY, completedAtMs: DAY, durationMs: 0 } },
    ]);
  });

  it("leaves an item as it is that ended at once, and one that has no duration without one", () => {
    const running = after(newThread(), startTurn());
    const completed = (item: ThreadItem, at: number): ThreadRecord => {
      return { type: "itemCompleted", turnId: TURN, at, item };
    };
    const records = [completed(spoken(6000, 6000), 7000)];
    expect(withOrderedItems(running, records, 0)).toBe(records);
    const unfinished: ThreadRecord = {
      type: "itemStarted",
      turnId: TURN,
      at: 7000,
      item: called(3000, null),
    };
    expect(withOrderedItems(running, [unfinished], 6000)).toEqual([
      { ...unfinished, item: { ...called(3000, null), startedAtMs: 6000 } },
    ]);
  });

  it("moves the next attempt to deliver a choice along with it", () => {
    const state = { ...newThread(), lastAt: 60_000 };
    const delayed = { kind: "choiceDelayed", at: 50_000, requestId: 7, until: 51_000 } as const;
    expect(atThreadTime(state, delayed)).toEqual({ ...delayed, at: 60_000, until: 61_000 });
    const later = { ...delayed, at: 70_000, until: 71_000 };
    expect(atThreadTime(state, later)).toBe(later);
  });

  it("moves what is due later along with it", () => {
    const story = new Story();
    story.startTurn(60_000);
    const call = { callId: "call", name: "x", namespace: null, arguments: "{}", kind: "function" } as const;
    story.tell({ kind: "toolCalled", at: 60_000, turnId: TURN, attempt: 1, call });
    const step = { kind: "stepCall", turnId: TURN, callId: "call" } as const;
    const dispatches = { kind: "dispatch", again: false, until: 30_000 + 1000 } as const;
    expect(story.tell({ ...step, at: 30_000, from: "proposed", step: dispatches })).toMatchObject([
      { type: "toolDispatched", at: 60_000, until: 61_000 },
    ]);
    // The deadline is that of the dispatch, and is not shifted again.
    const waits = { kind: "wait", until: 61_000 } as const;
    expect(story.tell({ ...step, at: 30_000, from: "dispatched", step: waits })).toMatchObject([
      { type: "toolWaiting", at: 60_000, until: 61_000 },
    ]);
  });
});
