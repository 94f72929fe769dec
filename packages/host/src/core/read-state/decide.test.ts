import type { ThreadItem } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { after, decided, newThread, ONE_TOKEN, startTurn } from "../../../../../test/support/test-thread.ts";
import { Fault } from "../../errors.ts";
import type { Command } from "../commands.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { withReadState } from "./decide.ts";
import { readStateOf } from "./read-state-view.ts";

const usage = ONE_TOKEN;

function said(turnId: string, text: string, phase: "commentary" | "final_answer" | null): Command {
  const item: ThreadItem = {
    type: "agentMessage",
    id: `${turnId} ${text}`,
    text,
    phase,
    memoryCitation: null,
    delivery: null,
    questions: null,
    startedAtMs: 2,
    completedAtMs: 2,
  };
  return { kind: "itemCompleted", at: 2, turnId, attempt: 1, item };
}

const done = (turnId: string, at = 3): Command => ({
  kind: "sampled",
  at,
  turnId,
  attempt: 1,
  outcome: { kind: "done", usage, contextWindow: null },
});
const mark = (expectedRevision: string, operation: "read" | "unread", at = 9): Command => ({
  kind: "markRead",
  at,
  expectedRevision,
  operation,
});
const answered = (state: ThreadState, turnId: string, at = 3) =>
  after(state, startTurn(turnId, at), said(turnId, "yes", null), done(turnId, at));
const revision = (state: ThreadState): string => readStateOf(state)!.revision;

describe("the read state", () => {
  it("changes with each record that changes it, one after the other", () => {
    const failed = { type: "turnEnded", turnId: "turn-1", at: 5, status: "failed" } as ThreadRecord;
    const dropped = {
      type: "turnsDropped",
      at: 6,
      keepThrough: null,
      dropped: ["turn-1"],
      by: "revert",
    } as const;
    const position = { type: "turn", turnId: "turn-1" };
    expect(withReadState(after(newThread(), startTurn()), [failed, dropped])).toEqual([
      { type: "readStateChanged", at: 5, change: 1, firstUnread: position },
      failed,
      { type: "readStateChanged", at: 6, change: 2, firstUnread: null },
      dropped,
    ]);
  });

  it("[READ-1] is sent before the status and the end of a turn that came to a result", () => {
    const running = after(newThread(), startTurn(), said("turn-1", "yes", null));
    const { records, state } = decided(running, done("turn-1"));
    expect(records.map(({ type }) => type).slice(-3)).toEqual([
      "readStateChanged",
      "statusChanged",
      "turnEnded",
    ]);
    expect(readStateOf(newThread())).toEqual({ firstUnread: null, revision: "initial:t" });
    expect(readStateOf(state)).toEqual({ firstUnread: { type: "turn", turnId: "turn-1" }, revision: "1.3" });
  });

  it("[READ-1] stays at the first of several turns, and has another revision after each", () => {
    const two = answered(answered(newThread(), "turn-1"), "turn-2", 5);
    expect(readStateOf(two)).toEqual({ firstUnread: { type: "turn", turnId: "turn-1" }, revision: "2.5" });
    const marked = after(two, mark("2.5", "unread"));
    expect(readStateOf(marked)).toEqual({ firstUnread: { type: "threadStart" }, revision: "3.9" });
    expect(readStateOf(answered(marked, "turn-3", 10))).toEqual({
      firstUnread: { type: "threadStart" },
      revision: "4.10",
    });
  });

  it("[READ-3] does not count a turn without an answer, nor one that was interrupted", () => {
    const silent = after(newThread(), startTurn(), done("turn-1"));
    const commented = after(newThread(), startTurn(), said("turn-1", "hm", "commentary"), done("turn-1"));
    const empty = after(newThread(), startTurn(), said("turn-1", "", "final_answer"), done("turn-1"));
    const interrupted = after(newThread(), startTurn(), said("turn-1", "yes", null), {
      kind: "interrupt",
      at: 3,
      turnId: "turn-1",
    });
    for (const state of [silent, commented, empty, interrupted])
      expect(readStateOf(state)).toEqual({ firstUnread: null, revision: "initial:t" });
    const error = { message: "no", codexErrorInfo: null, additionalDetails: null, misalignment: null };
    const failed = after(newThread(), startTurn(), {
      kind: "sampled",
      at: 3,
      turnId: "turn-1",
      attempt: 1,
      outcome: { kind: "failed", error },
    });
    expect(readStateOf(failed)?.firstUnread).toEqual({ type: "turn", turnId: "turn-1" });
  });

  it("[READ-2] takes a mark upon the revision that is there, and no other", () => {
    const state = answered(newThread(), "turn-1");
    expect(() => decided(state, mark("initial:t", "read"))).toThrow(Fault);
    const read = after(state, mark(revision(state), "read"));
    expect(readStateOf(read)).toEqual({ firstUnread: null, revision: "2.9" });
    // Marking the same again is a change, too.
    expect(revision(after(read, mark(revision(read), "read")))).toBe("3.9");
  });

  it("[READ-4] is empty again when the turn is dropped, and is not touched by others", () => {
    const state = answered(answered(newThread(), "turn-1"), "turn-2");
    const drop = (keepThrough: string | null, dropped: readonly string[]): Command => ({
      kind: "dropTurns",
      at: 8,
      by: "revert",
      keepThrough,
      dropped,
      lastTurnId: "turn-2",
    });
    const later = decided(state, drop("turn-1", ["turn-2"]));
    expect(later.records.map(({ type }) => type)).not.toContain("readStateChanged");
    const all = decided(state, drop(null, ["turn-2", "turn-1"]));
    expect(all.records.map(({ type }) => type)).toEqual(["readStateChanged", "turnsDropped"]);
    expect(readStateOf(all.state)).toEqual({ firstUnread: null, revision: "3.8" });
    const marked = after(state, mark(revision(state), "unread"));
    expect(readStateOf(after(marked, drop(null, ["turn-2", "turn-1"])))?.firstUnread).toEqual({
      type: "threadStart",
    });
  });

  it("[READ-5] is only of threads that last and have no parent", () => {
    const of = (facts: Partial<ThreadState["facts"]>): ThreadState => {
      const state = newThread();
      return { ...state, facts: { ...state.facts, ...facts } };
    };
    for (const state of [of({ ephemeral: true }), of({ parentThreadId: "p" })]) {
      expect(readStateOf(answered(state, "turn-1"))).toBeNull();
      expect(answered(state, "turn-1").readState).toBeUndefined();
      expect(() => decided(state, mark("initial:t", "read"))).toThrow("thread read state unavailable");
    }
  });
});
