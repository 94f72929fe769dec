import { describe, expect, it } from "vitest";
import { after, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import type { CallState } from "./call-stages.ts";
import { turnFromCheckpoint, turnInCheckpoint } from "./checkpoint-turn.ts";
import type { TurnPhase } from "./phase.ts";

const call: CallState = {
  call: { callId: "c", name: "act", namespace: null, arguments: "{}", kind: "function" },
  stage: { kind: "waiting", until: null },
};
const how = { covers: "all", lighter: 1, because: null } as const;
const running = after(newThread(), startTurn()).turn!;
/** The fields of a checkpoint that encode the phase of a turn. */
const REST = { sampled: false, retryAt: null, shown: false, compacting: null, calls: [] };

const PHASES: readonly (readonly [TurnPhase, object])[] = [
  [
    { kind: "sampling", due: 7, shown: true, calls: [call] },
    { ...REST, retryAt: 7, shown: true, calls: [call] },
  ],
  [
    { kind: "compacting", due: 8, how },
    { ...REST, retryAt: 8, compacting: how },
  ],
  [
    { kind: "calling", calls: [call] },
    { ...REST, sampled: true, calls: [call] },
  ],
  [
    { kind: "hooks", event: "stop" },
    { ...REST, sampled: true, lastHooks: "stop" },
  ],
  [{ kind: "ending" }, { ...REST, sampled: true }],
];

describe("a turn in a checkpoint", () => {
  it.each(PHASES)("keeps the shape that journals have, and is read back: %o", (phase, fields) => {
    const turn = { ...running, phase, pendingInput: true };
    const saved = turnInCheckpoint(turn);
    expect(saved).toMatchObject({ ...fields, unheard: true, attempt: 1 });
    expect(Object.keys(saved)).not.toContain("phase");
    expect(Object.keys(saved)).not.toContain("pendingInput");
    expect(turnFromCheckpoint(JSON.parse(JSON.stringify(saved)))).toEqual(JSON.parse(JSON.stringify(turn)));
  });

  it("is one of the user's commands if no model was called", () => {
    const turn = { ...running, attempt: 0, phase: { kind: "shell" } as const };
    const saved = turnInCheckpoint(turn);
    expect(saved).toMatchObject({ ...REST, sampled: true });
    expect(turnFromCheckpoint(saved)).toEqual(turn);
  });

  it("has nothing left to call if all of its calls are settled", () => {
    const settled: CallState = { ...call, stage: { kind: "settled" } };
    const saved = { ...turnInCheckpoint(running), sampled: true, calls: [settled] };
    expect(turnFromCheckpoint(saved).phase).toEqual({ kind: "ending" });
  });
});
