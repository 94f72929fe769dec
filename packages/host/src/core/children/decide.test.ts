import { describe, expect, it } from "vitest";
import { decided, newThread } from "../../../../../test/support/test-thread.ts";
import { foldCheckpoint } from "../life/fold.ts";
import { checkpointOf } from "../life/make-checkpoint.ts";
import { NO_RAP } from "../rap/records.ts";
import type { ThreadState } from "../state.ts";
import type { Child } from "./records.ts";

function threadWith(...children: Child[]): ThreadState {
  return { ...newThread(), children };
}

describe("a child that cannot be made", () => {
  const event = {
    id: "event_1",
    kind: "event",
    call: { callId: "c", server: "desk", via: "desk", tool: "deploy", args: "{}" },
    output: "a bird",
    success: true,
    shown: { content: [], _meta: null },
  } as const;
  const failed = { kind: "childFailed", at: 10, childId: "child" } as const;

  it("leaves its event to the thread itself, which no longer waits for it", () => {
    const { state } = decided(threadWith({ childId: "child", task: { kind: "event", event } }), failed);
    expect(state).toMatchObject({ children: [], rap: { events: [event] } });
    expect(decided(state, failed).records).toEqual([]);
  });

  it("has had its event if it was made", () => {
    const { state } = decided(threadWith({ childId: "child", task: null }), failed);
    expect(state).toMatchObject({ children: [], rap: { events: [] } });
  });

  it("is read from a checkpoint of an earlier version, where tool servers had it", () => {
    const { children: _, ...state } = checkpointOf(newThread()).state;
    const rap = {
      ...NO_RAP,
      children: [
        { childId: "a", event },
        { childId: "b", event: null },
      ],
    };
    const read = foldCheckpoint({ type: "checkpoint", state: { ...state, rap } });
    expect(read.children).toEqual([
      { childId: "a", task: { kind: "event", event } },
      { childId: "b", task: null },
    ]);
    expect(read.rap).toEqual(NO_RAP);
  });

  it("is made and over once, and its siblings stay as they are", () => {
    const task = { kind: "event", event } as const;
    const due = threadWith({ childId: "child", task }, { childId: "sibling", task });
    const made = decided(due, { kind: "childMade", at: 10, childId: "child" });
    expect(made.records).toEqual([{ type: "childMade", at: 10, childId: "child" }]);
    const children = [
      { childId: "child", task: null },
      { childId: "sibling", task },
    ];
    expect(made.state).toEqual({ ...due, children, lastAt: 10 });
    expect(decided(made.state, { kind: "childMade", at: 11, childId: "child" }).records).toEqual([]);
    const ended = decided(made.state, { kind: "childEnded", at: 11, childId: "child" });
    expect(ended.records).toEqual([{ type: "childEnded", at: 11, childId: "child" }]);
    expect(ended.state.children).toEqual([{ childId: "sibling", task }]);
  });

  it("is not over before it has its event, whatever is said of what was left of it", () => {
    const due = threadWith({ childId: "child", task: { kind: "event", event } });
    expect(decided(due, { kind: "childEnded", at: 10, childId: "child" }).records).toEqual([]);
  });
});
