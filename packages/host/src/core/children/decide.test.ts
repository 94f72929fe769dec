import { describe, expect, it } from "vitest";
import { foldCheckpoint } from "../life/fold.ts";
import { NO_RAP } from "../rap/records.ts";
import type { ThreadState } from "../state.ts";
import { decided, newThread } from "../test-thread.ts";
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
    const { children: _, ...state } = newThread();
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

  it("is not over before it has its event, whatever is said of what was left of it", () => {
    const due = threadWith({ childId: "child", task: { kind: "event", event } });
    expect(decided(due, { kind: "childEnded", at: 10, childId: "child" }).records).toEqual([]);
  });
});
