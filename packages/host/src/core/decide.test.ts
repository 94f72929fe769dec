import { describe, expect, it } from "vitest";
import { after, decided, newThread, startTurn } from "../../../../test/support/test-thread.ts";
import type { Command } from "./commands.ts";
import type { ThreadState } from "./state.ts";

const error = {
  message: "no",
  codexErrorInfo: "badRequest",
  additionalDetails: null,
  misalignment: null,
} as const;
const fails: Command = {
  kind: "sampled",
  at: 2,
  turnId: "turn-1",
  attempt: 1,
  outcome: { kind: "failed", error },
};
const failed = after(newThread(), startTurn(), fails);
const close = { kind: "close", at: 9000, reason: "requested" } as const;
const open: Command = { kind: "open", at: 9000, load: {}, docs: [], changes: {} };
const rename: Command = { kind: "rename", at: 9000, name: "n" };
const drop: Command = {
  kind: "dropTurns",
  at: 9000,
  by: "rollback",
  keepThrough: "turn-0",
  dropped: ["turn-1"],
  lastTurnId: "turn-1",
};
const types = (state: ThreadState, command: Command) =>
  decided(state, command).records.map(({ type }) => type);

describe("the status of a thread", () => {
  it("is active during a turn, and then says whether the turn failed", () => {
    const { records, state } = decided(newThread(), startTurn());
    expect(records[0]).toEqual({ type: "statusChanged", status: { type: "active", activeFlags: [] } });
    expect(state.status).toEqual({ type: "active", activeFlags: [] });
    expect(failed.status).toEqual({ type: "systemError" });
    const interrupted = after(state, { kind: "interrupt", at: 2, turnId: null });
    expect(interrupted.status).toEqual({ type: "idle" });
  });

  it("stays an error until the next turn", () => {
    expect(types(failed, rename)).toEqual(["renamed"]);
    expect(after(failed, rename).status).toEqual({ type: "systemError" });
    expect(after(failed, startTurn("turn-2", 5)).status.type).toBe("active");
  });

  it("is no error after the next load, although the last turn is one that failed", () => {
    const loaded = after(failed, close, open);
    expect(loaded.status).toEqual({ type: "idle" });
    expect(types(loaded, rename)).toEqual(["renamed"]);
    expect(after(loaded, rename).status).toEqual({ type: "idle" });
  });

  it("is no error once the turn that failed is dropped", () => {
    expect(types(failed, drop).slice(-2)).toEqual(["statusChanged", "turnsDropped"]);
    expect(after(failed, drop).status).toEqual({ type: "idle" });
  });

  it("does not change while the thread is not loaded", () => {
    const closed = after(failed, close);
    expect(types(closed, drop)).toContain("turnsDropped");
    expect(types(closed, drop)).not.toContain("statusChanged");
    expect(after(closed, drop).status).toEqual({ type: "notLoaded" });
  });

  it("is in the records that start and end a load, which come alone", () => {
    // A status that does not follow from the rest of the state.
    const odd: ThreadState = { ...newThread(), status: { type: "active", activeFlags: [] } };
    expect(decided(odd, { kind: "adopt", at: 9000 }).records).toEqual([
      { type: "adopted", at: 9000, epoch: 2, status: odd.status },
    ]);
    expect(types(odd, open)).toEqual(["opened"]);
    expect(types(odd, close)).toEqual(["closed"]);
  });
});

describe("the time of a goal", () => {
  it("counts until a thread is closed, but not until a lost one is", () => {
    const objective = "Ship it";
    const set = { kind: "setGoal", at: 1000, objective, maxBudget: null } as Command;
    const running = after(newThread(), set, startTurn("turn-1", 2000));
    const time = (reason: "requested" | "lost") =>
      after(running, { ...close, reason }).goal?.goal.timeUsedSeconds;
    expect([time("requested"), time("lost")]).toEqual([8, 0]);
  });
});
