import type { ThreadItem } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import type { Command } from "./commands.ts";
import { fold } from "./fold.ts";
import type { ThreadRecord } from "./records.ts";
import type { ThreadState } from "./state.ts";
import { decided, newThread } from "./test-thread.ts";
import { turnCompleted } from "./turn/views.ts";

const DAY = 24 * 60 * 60 * 1000;
const TURN = "turn-1";

/** A thread that commands are given to, one after the other, and the times that were recorded. */
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
    // In a turn it does not go back, however far the clock does.
    expect(story.interrupt(DAY).at).toBe(5 * DAY);
    story.startTurn(DAY, "turn-3");
    expect(story.interrupt(DAY + 500)).toMatchObject({ startedAt: DAY, at: DAY + 500 });
    expect(story.state.updatedAt).toBe(DAY + 500);
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
    // The deadline is that of the dispatch, and is not moved twice.
    const waits = { kind: "wait", until: 61_000 } as const;
    expect(story.tell({ ...step, at: 30_000, from: "dispatched", step: waits })).toMatchObject([
      { type: "toolWaiting", at: 60_000, until: 61_000 },
    ]);
  });
});
