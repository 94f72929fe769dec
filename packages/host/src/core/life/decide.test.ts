import { describe, expect, it } from "vitest";
import { after, decided, newThread, startTurn } from "../../../../../test/support/test-thread.ts";

const running = after(newThread(), startTurn());
const drop = (by: "rollback" | "revert", lastTurnId = "turn-1") =>
  ({ kind: "dropTurns", at: 2, by, keepThrough: null, dropped: [lastTurnId], lastTurnId }) as const;

describe("dropping turns while one runs", () => {
  it("[EDIT-13] ends it in the same commit, if they are reverted", () => {
    const { records, state } = decided(running, drop("revert"));
    expect(records.map(({ type }) => type)).toEqual(["statusChanged", "turnEnded", "turnsDropped"]);
    expect(records[1]).toMatchObject({ turnId: "turn-1", status: "interrupted" });
    expect([state.turn, state.lastTurn, state.status]).toEqual([null, null, { type: "idle" }]);
  });

  it("is refused if another one was meant, or if they are rolled back", () => {
    expect(() => decided(running, drop("revert", "turn-0"))).toThrow("moved on");
    expect(() => decided(running, drop("rollback"))).toThrow("in progress");
  });
});
