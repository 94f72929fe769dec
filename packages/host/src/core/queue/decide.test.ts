import { describe, expect, it } from "vitest";
import { after, decided, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import type { Command } from "../commands.ts";
import { decide } from "../decide.ts";
import type { ThreadState } from "../state.ts";
import type { QueueCommand } from "./commands.ts";

const text = (words: string) => [{ type: "text" as const, text: words, text_elements: [] }];
const queued = (id: string): QueueCommand => ({
  kind: "queueInput",
  at: 1,
  submission: { id, clientUserMessageId: `client ${id}`, input: text(`do ${id}`) },
});
const start = (id: string | null, asked = true): QueueCommand => ({
  kind: "startQueued",
  at: 2,
  id,
  turnId: "turn-2",
  userItemId: "item",
  asked,
});
const waiting = after(newThread(), queued("a"), queued("b"), queued("c"));

const idsIn = ({ queue }: ThreadState): readonly string[] => queue.items.map(({ id }) => id);

function codeOf(state: ThreadState, command: Command): string {
  const decision = decide(state, command, new Map());
  return decision.kind === "refused" ? decision.fault.code : "accepted";
}

describe("the start of queued input", () => {
  it.each([
    ["the first", null, "a", ["b", "c"]],
    ["the one that a client names", "b", "b", ["a", "c"]],
  ])("takes %s, and leaves the others in their order", (_, id, taken, left) => {
    const { records, state } = decided(waiting, start(id));
    expect(records.find(({ type }) => type === "turnStarted")).toMatchObject({ turnId: "turn-2" });
    expect(records).toContainEqual({ type: "submissionRemoved", at: 2, id: taken, turnId: "turn-2" });
    expect(JSON.stringify(records)).toContain(`do ${taken}`);
    expect(idsIn(state)).toEqual(left);
  });

  it("fails for a client if there is no such input, or a turn runs", () => {
    expect(codeOf(newThread(), start(null))).toBe("queueEmpty");
    expect(codeOf(waiting, start("d"))).toBe("submissionNotFound");
    expect(codeOf(after(waiting, startTurn()), start("a"))).toBe("turnAlreadyActive");
  });

  it("by the host does nothing if there is no input, a turn runs, or the queue is paused", () => {
    const busy = after(waiting, startTurn());
    const paused = after(busy, { kind: "interrupt", at: 2, turnId: null });
    for (const state of [newThread(), busy, paused])
      expect(decided(state, start(null, false)).records).toEqual([]);
    expect(idsIn(decided(waiting, start(null, false)).state)).toEqual(["b", "c"]);
    // A client may start what an interrupt has paused.
    expect(idsIn(decided(paused, start(null)).state)).toEqual(["b", "c"]);
  });
});

describe("a queue that an interrupt has paused", () => {
  const paused = after(waiting, startTurn(), { kind: "interrupt", at: 2, turnId: null });

  it("stays paused whatever is done to its input", () => {
    const commands: readonly (readonly [QueueCommand, readonly string[]])[] = [
      [queued("d"), ["a", "b", "c", "d"]],
      [{ kind: "changeQueued", at: 3, id: "b", input: text("do it well") }, ["a", "b", "c"]],
      [{ kind: "removeQueued", at: 3, id: "b" }, ["a", "c"]],
      [{ kind: "reorderQueue", at: 3, ids: ["c", "a", "b"] }, ["c", "a", "b"]],
    ];
    for (const [command, ids] of commands) {
      const { state } = decided(paused, command);
      expect([state.queue.paused, idsIn(state)], command.kind).toEqual([true, ids]);
    }
  });
});

describe("a queue that is full", () => {
  const MOST = 16 * 1024 * 1024;
  /** Input of this many characters in JSON. */
  const sized = (size: number) => text("x".repeat(size - JSON.stringify(text("")).length));
  const large = (id: string, size: number): QueueCommand => ({
    kind: "queueInput",
    at: 1,
    submission: { id, clientUserMessageId: `client ${id}`, input: sized(size) },
  });

  it("takes 100 inputs", () => {
    const ids = Array.from({ length: 100 }, (_, nth) => `q${nth}`);
    const full = after(newThread(), ...ids.slice(1).map(queued));
    expect(codeOf(full, queued("last"))).toBe("accepted");
    expect(codeOf(after(full, queued("last")), queued("more"))).toBe("queueFull");
  });

  it("takes 16 MiB in all, of which a change replaces its part", () => {
    expect(codeOf(newThread(), large("a", MOST))).toBe("accepted");
    expect(codeOf(newThread(), large("a", MOST + 1))).toBe("queueTooLarge");
    const both = after(newThread(), large("a", MOST - 1000), large("b", 600));
    expect(codeOf(both, large("c", 400))).toBe("accepted");
    expect(codeOf(both, large("c", 401))).toBe("queueTooLarge");
    const change = (id: string, size: number): QueueCommand => ({
      kind: "changeQueued",
      at: 3,
      id,
      input: sized(size),
    });
    expect(codeOf(both, change("a", MOST - 600))).toBe("accepted");
    expect(codeOf(both, change("a", MOST - 599))).toBe("queueTooLarge");
    expect(codeOf(both, change("b", 1000))).toBe("accepted");
    expect(codeOf(both, change("b", 1001))).toBe("queueTooLarge");
  });
});

describe("a change of queued input", () => {
  it("changes the one that it names", () => {
    const { state } = decided(waiting, { kind: "changeQueued", at: 3, id: "b", input: text("do it well") });
    expect(state.queue.items.map(({ input }) => input)).toEqual([
      text("do a"),
      text("do it well"),
      text("do c"),
    ]);
    const unknown: QueueCommand = { kind: "changeQueued", at: 3, id: "d", input: text("do it well") };
    expect(codeOf(waiting, unknown)).toBe("submissionNotFound");
  });

  it("of its order names each exactly once", () => {
    for (const ids of [[], ["a", "b"], ["a", "b", "b"], ["a", "b", "c", "c"], ["a", "b", "d"]])
      expect(codeOf(waiting, { kind: "reorderQueue", at: 3, ids }), ids.join()).toBe("queueOrder");
  });

  it("removes nothing that is not there", () => {
    expect(decided(waiting, { kind: "removeQueued", at: 3, id: "d" }).records).toEqual([]);
  });
});
