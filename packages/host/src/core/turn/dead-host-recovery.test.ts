import type { ThreadItem } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import {
  after,
  decided,
  endModelCall,
  newThread,
  startTurn,
} from "../../../../../test/support/test-thread.ts";
import type { Command } from "../commands.ts";
import { next } from "../next.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import type { CallStep } from "./call-stages.ts";
import { onlyWaits } from "./call-stages.ts";
import type { TurnCommand } from "./commands.ts";
import { outlives } from "./dead-host-recovery.ts";

const TURN = "turn-1";

const recordsOf = (state: ThreadState, command: Command): readonly ThreadRecord[] =>
  decided(state, command).records;

const started = after(newThread(), startTurn(TURN));

const message: ThreadItem = {
  type: "agentMessage",
  id: "m",
  text: "",
  phase: null,
  memoryCitation: null,
  delivery: null,
  questions: null,
  startedAtMs: 2,
  completedAtMs: null,
};
const speaks: TurnCommand = { kind: "itemStarted", at: 2, turnId: TURN, attempt: 1, item: message };
const calls = (callId: string): TurnCommand => ({
  kind: "toolCalled",
  at: 2,
  turnId: TURN,
  attempt: 1,
  call: { callId, name: "act", namespace: null, arguments: "{}", kind: "function" },
});
const step = (callId: string, from: "proposed" | "heard" | "dispatched", taken: CallStep): TurnCommand => ({
  kind: "stepCall",
  at: 3,
  turnId: TURN,
  callId,
  from,
  step: taken,
});
const asks = (callId: string, requestId: number) =>
  step(callId, "proposed", {
    kind: "ask",
    requestId,
    reviewId: "review",
    fingerprint: "f",
    ask: {
      method: "item/tool/call",
      params: { threadId: "t", turnId: TURN, callId, namespace: null, tool: "act", arguments: {} },
    },
  });
const dispatches = (callId: string, again: boolean, more: { via?: string; until?: number } = {}) =>
  step(callId, "proposed", { kind: "dispatch", again, ...more });
const sampled = endModelCall(4);
const adopt: Command = { kind: "adopt", at: 9 };
const kinds = (records: readonly ThreadRecord[]) => records.map(({ type }) => type);

describe("a turn whose host is gone", () => {
  it("goes on with the same call of the model if nothing of its answer was shown", () => {
    expect(outlives(started)).toBe(true);
    expect(kinds(recordsOf(started, adopt))).toEqual(["adopted"]);
    expect(next(after(started, adopt)).map(({ key }) => key)).toEqual(next(started).map(({ key }) => key));
  });

  it("ends if something was shown and nothing else is left", () => {
    expect(outlives(after(started, speaks))).toBe(false);
    expect(outlives(newThread())).toBe(false);
  });

  it("waits on for what clients were asked, and keeps the question", () => {
    const asking = after(started, calls("a"), asks("a", 7), sampled);
    expect([outlives(asking), onlyWaits(asking.turn!)]).toEqual([true, true]);
    const adopted = after(asking, adopt);
    expect(adopted.requests.map(({ id }) => id)).toEqual([7]);
    expect(next(adopted)).toEqual([]);
  });

  it("gives up the rest of an answer that broke off while its calls wait, and asks again when they are settled", () => {
    const broken = after(started, calls("a"), asks("a", 7), speaks);
    expect(outlives(broken)).toBe(true);
    expect(kinds(recordsOf(broken, adopt))).toEqual(["adopted", "itemCompleted", "sampleLost"]);
    const heard = after(broken, adopt, {
      kind: "answer",
      at: 10,
      requestId: 7,
      answer: { kind: "result", result: {} },
    });
    expect(next(heard)).toMatchObject([{ kind: "call", stage: { kind: "heard" } }]);
    const settled = step("a", "heard", { kind: "settle", output: "ok", success: true });
    expect(next(after(heard, settled))).toMatchObject([{ kind: "sample", attempt: 2 }]);
  });

  it("does again what may be done again, and says of the rest that its outcome is not known", () => {
    const both = after(
      started,
      calls("a"),
      calls("b"),
      dispatches("a", true),
      dispatches("b", false),
      sampled,
    );
    expect(outlives(both)).toBe(true);
    const records = recordsOf(both, adopt);
    expect(kinds(records)).toEqual(["adopted", "toolAnswered"]);
    expect(records[1]).toMatchObject({
      callId: "b",
      success: false,
      output: expect.stringMatching(/not known/),
    });
    expect(next(after(both, adopt))).toMatchObject([{ kind: "call", call: { callId: "a" } }]);
    expect(outlives(after(started, calls("b"), dispatches("b", false), sampled))).toBe(false);
  });

  it("completes the item of a call whose outcome is not known, and leaves those of others open", () => {
    const shown = (callId: string, again: boolean) =>
      step(callId, "proposed", {
        kind: "dispatch",
        again,
        item: { ...message, type: "webSearch", id: callId } as unknown as ThreadItem,
      });
    const both = after(started, calls("a"), calls("b"), shown("a", true), shown("b", false), sampled);
    const records = recordsOf(both, adopt);
    expect(kinds(records)).toEqual(["adopted", "itemCompleted", "toolAnswered"]);
    expect(records[1]).toMatchObject({ item: { id: "b", completedAtMs: 9 } });
    expect(after(both, adopt).turn?.open.map(({ id }) => id)).toEqual(["a"]);
  });

  it("waits for a tool server that may have a call, until the deadline or for ten minutes from its dispatch", () => {
    const sent = after(
      started,
      calls("a"),
      calls("b"),
      dispatches("a", false, { via: "desk" }),
      dispatches("b", false, { via: "desk", until: 5000 }),
      sampled,
    );
    expect(outlives(sent)).toBe(true);
    const waits = { type: "toolWaiting", turnId: TURN, at: 9, unacknowledged: true };
    expect(recordsOf(sent, adopt).slice(1)).toEqual([
      { ...waits, callId: "a", until: 3 + 600_000 },
      { ...waits, callId: "b", until: 5000 },
    ]);
    const adopted = after(sent, adopt);
    expect(next(adopted)).toMatchObject([
      { kind: "call", call: { callId: "a" }, due: 600_003 },
      { kind: "call", call: { callId: "b" }, due: 5000 },
    ]);
    // Another adoption changes nothing.
    expect(next(after(adopted, adopt))).toEqual(next(adopted));
  });

  it("takes the result of a call that it waits for so, and tells the model the outcome is not known where it ends", () => {
    const sent = after(started, calls("a"), dispatches("a", false, { via: "desk" }), sampled, adopt);
    const result = recordsOf(sent, {
      kind: "reportCall",
      at: 10,
      load: sent.loadEpoch,
      callId: "a",
      report: { output: "seen", success: true, shown: { content: [], _meta: null }, subscription: false },
      eventId: "e",
    });
    expect(result).toMatchObject([{ type: "toolAnswered", output: "seen" }, { type: "sampleRequested" }]);
    const [answered] = recordsOf(sent, { kind: "close", at: 10, reason: "lost" });
    expect(answered).toMatchObject({ callId: "a", output: expect.stringMatching(/not known/) });
  });

  it("says of a call whose outcome is not known so, too, where it ends", () => {
    const alone = after(started, calls("b"), dispatches("b", false), sampled);
    const records = recordsOf(alone, { kind: "close", at: 9, reason: "lost" });
    expect(kinds(records)).toEqual(["toolAnswered", "callCancelled", "statusChanged", "turnEnded", "closed"]);
    expect(records[0]).toMatchObject({ callId: "b", output: expect.stringMatching(/not known/) });
  });

  it("is not tried for ever", () => {
    const twice = after(started, adopt, adopt);
    expect(outlives(twice)).toBe(true);
    expect(outlives(after(twice, adopt))).toBe(false);
  });

  it("waits through as many hosts as it takes", () => {
    const waiting = after(
      started,
      calls("a"),
      dispatches("a", false),
      step("a", "dispatched", { kind: "wait", until: null }),
      sampled,
    );
    const many = after(waiting, ...Array.from({ length: 20 }, () => adopt));
    expect([outlives(many), many.turn?.lostHosts]).toEqual([true, 0]);
  });

  it("that cannot go on ends once, with all that it asked, ran and showed", () => {
    const all = after(started, calls("a"), asks("a", 7), speaks);
    const records = recordsOf(all, { kind: "close", at: 9, reason: "lost" });
    expect(kinds(records)).toEqual([
      "requestResolved",
      "itemCompleted",
      "statusChanged",
      "turnEnded",
      "closed",
    ]);
    expect(after(all, { kind: "close", at: 9, reason: "lost" })).toMatchObject({ requests: [], turn: null });
  });
});
