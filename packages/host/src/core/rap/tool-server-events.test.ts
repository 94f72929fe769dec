import { describe, expect, it } from "vitest";
import { decided, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { NO_RAP, type RapEvent } from "./records.ts";
import { withEvents } from "./tool-server-events.ts";

const event = (id: string): RapEvent => ({
  id,
  kind: "event",
  call: { callId: "c", server: "desk", via: "desk", tool: "watch", args: '{"at":"door"}' },
  output: "a bird",
  success: true,
  shown: { content: [], _meta: null },
});
const waiting: ThreadState = { ...newThread(), rap: { ...NO_RAP, events: [event("e1"), event("e2")] } };
const types = (records: readonly ThreadRecord[]): readonly string[] => records.map(({ type }) => type);
const injectedIn = (records: readonly ThreadRecord[]): readonly string[] =>
  records.flatMap((record) => (record.type === "eventInjected" ? [record.event.id] : []));

describe("events that wait for the model", () => {
  it("stand before the model call of the turn that they start, in their order, once", () => {
    const { records, state } = decided(waiting, { kind: "startEvents", at: 3, turnId: "turn-1" });
    expect(injectedIn(records)).toEqual(["e1", "e2"]);
    const asTypes = types(records);
    expect(asTypes.indexOf("turnStarted")).toBeLessThan(asTypes.indexOf("eventInjected"));
    expect(asTypes.lastIndexOf("eventInjected")).toBeLessThan(asTypes.indexOf("sampleRequested"));
    expect(state.rap.events).toEqual([]);
  });

  it("stand before the model call of a turn that somebody else starts", () => {
    const { records, state } = decided(waiting, startTurn());
    expect(injectedIn(records)).toEqual(["e1", "e2"]);
    expect(records).toContainEqual(
      expect.objectContaining({
        type: "itemCompleted",
        at: 1,
        item: expect.objectContaining({
          type: "mcpToolCall",
          id: "e1",
          server: "desk",
          status: "completed",
          arguments: {
            original_tool_name: "watch",
            original_tool_call_id: "c",
            original_args: { at: "door" },
          },
        }),
      }),
    );
    expect(state.rap.events).toEqual([]);
  });

  it.each([
    [true, "completed"],
    [false, "failed"],
  ])("are shown to clients as a call that the model did not make (success: %s)", (success, status) => {
    const blobs = { b: { size: 1 } } as never;
    const content = [{ type: "text", text: "a bird" }];
    const shown: RapEvent = { ...event("e"), success, shown: { content, _meta: { a: 1 } }, blobs };
    const state = { ...newThread(), rap: { ...NO_RAP, events: [shown] } };
    const { records } = decided(state, { kind: "startEvents", at: 3, turnId: "turn-1" });
    const item = {
      type: "mcpToolCall",
      id: "e",
      server: "desk",
      tool: "receive_event__injected",
      status,
      arguments: { original_tool_name: "watch", original_tool_call_id: "c", original_args: { at: "door" } },
      appContext: null,
      mcpAppUi: null,
      pluginId: null,
      readOnlyHint: true,
      result: { content, structuredContent: null, _meta: { a: 1 } },
      error: null,
      durationMs: 0,
      startedAtMs: 3,
      completedAtMs: 3,
    };
    const at = records.findIndex(({ type }) => type === "eventInjected");
    expect(records.slice(at, at + 3)).toEqual([
      { type: "eventInjected", turnId: "turn-1", at: 3, event: shown },
      { type: "itemStarted", turnId: "turn-1", at: 3, item: { ...item, completedAtMs: null } },
      { type: "itemCompleted", turnId: "turn-1", at: 3, item, blobs },
    ]);
  });

  it("name no blobs if they have none", () => {
    const { records } = decided(waiting, { kind: "startEvents", at: 3, turnId: "turn-1" });
    for (const record of records) expect(record).not.toHaveProperty("blobs");
  });

  it("start no turn while one runs, nor without an event", () => {
    const start = { kind: "startEvents", at: 3, turnId: "turn-2" } as const;
    expect(decided(newThread(), start).records).toEqual([]);
    const running = { ...decided(newThread(), startTurn()).state, rap: waiting.rap };
    expect(decided(running, start).records).toEqual([]);
  });

  it("are added once, before the first of several model calls, and the rest of the state stays", () => {
    const { state } = decided(newThread(), startTurn());
    const running = { ...state, rap: { ...waiting.rap, keys: ["k"] } };
    const request = { type: "sampleRequested", turnId: "turn-1", attempt: 2 } as const;
    const twice = withEvents(running, [request, { ...request, attempt: 3 }], undefined);
    expect(injectedIn(twice)).toEqual(["e1", "e2"]);
    expect(types(twice).indexOf("sampleRequested")).toBe(6);
    expect(twice[0]).toMatchObject({ at: running.updatedAt });
    const later: ThreadRecord = { type: "eventReceived", at: 4, event: event("e3"), key: "s k" };
    const between = withEvents(running, [request, later, { ...request, attempt: 3 }], 4);
    expect(injectedIn(between)).toEqual(["e1", "e2", "e3"]);
    expect(withEvents(running, [later], 4)).toEqual([later]);
  });

  it("go on waiting through a code review and through what calls no model", () => {
    const review = {
      kind: "startReview",
      at: 3,
      turnId: "turn-1",
      label: "changes",
      prompt: "Review.",
    } as const;
    for (const command of [review, { kind: "rename", at: 3, name: "n" } as const]) {
      const { records, state } = decided(waiting, command);
      expect(injectedIn(records)).toEqual([]);
      expect(state.rap.events).toHaveLength(2);
    }
  });
});
