import { describe, expect, it } from "vitest";
import { after, decided, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import type { Command } from "../commands.ts";
import { stepState } from "./turn-settings.ts";

const change = (changes: object, turnId = "turn-1"): Command => ({
  kind: "changeTurnSettings",
  at: 2,
  turnId,
  changes,
});
const steer: Command = {
  kind: "steer",
  at: 3,
  expectedTurnId: "turn-1",
  userItemId: "u2",
  clientUserMessageId: null,
  input: [{ type: "text", text: "more", text_elements: [] }],
  context: [],
};

describe("settings of a running turn", () => {
  const running = after(newThread(), startTurn());

  it("[TURN-15] count from the next call of the model on, and add up", () => {
    const changed = after(running, change({ model: "other", effort: "low" }), change({ effort: "high" }));
    expect(stepState(changed).settings).toEqual(running.settings);
    const next = after(changed, steer);
    expect(stepState(next).settings).toEqual({ ...running.settings, model: "other", effort: "high" });
    // The thread's settings are unchanged.
    expect(next.settings).toEqual(running.settings);
    // A change during a model call takes effect at the next model call.
    const during = after(next, change({ model: "third" }));
    expect(stepState(during).settings.model).toBe("other");
  });

  it("[TURN-15] end with the turn", () => {
    const ended = after(running, change({ model: "other" }), steer, {
      kind: "interrupt",
      at: 4,
      turnId: "turn-1",
    });
    expect(stepState(ended).settings).toEqual(running.settings);
    expect(stepState(after(ended, startTurn("turn-2", 5))).settings).toEqual(running.settings);
  });

  it("[TURN-15] are not taken by a turn that does not run", () => {
    expect(decided(running, change({ model: "other" }, "turn-0")).records).toEqual([]);
    expect(decided(newThread(), change({ model: "other" })).records).toEqual([]);
    expect(decided(running, change({})).records).toEqual([]);
  });
});
