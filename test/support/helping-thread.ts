// Builders for tests of a thread with helpers.
import type { CollabAgentState } from "@bobbin/protocol";
import type { Help } from "../../packages/host/src/core/children/helper-calls.ts";
import type { Command } from "../../packages/host/src/core/commands.ts";
import type { ThreadState } from "../../packages/host/src/core/state.ts";
import { after, endModelCall, newThread, startTurn } from "./test-thread.ts";

export const HELPER_DONE: CollabAgentState = { status: "completed", message: "Three." };
export const HELPER_RUNNING: CollabAgentState = { status: "running", message: null };

/** A tool call takes a step on helpers. `item`: the item of the call. */
export function stepHelp(
  callId: string,
  help: Help,
  from: "proposed" | "dispatched" = "proposed",
  item?: object,
): Command {
  const step = { kind: "help", help, ...(item !== undefined && { item }) } as const;
  return { kind: "stepCall", at: 4, turnId: "turn-1", callId, from, step } as Command;
}

export function spawnHelper(childId: string, callId: string, limit = 6): Extract<Help, { kind: "spawn" }> {
  return {
    kind: "spawn",
    childId,
    nickname: "Weft",
    role: null,
    start: { callId, fork: false, settings: {}, developerInstructions: null },
    input: { id: `input of ${childId}`, input: [], rootTurnId: "turn-1" },
    limit,
  };
}

/** The helper's thread exists. */
export function helperMade(childId: string): Command {
  return { kind: "helperMade", at: 5, childId, heard: 1 };
}

/** The helper has taken its first input. */
export function helperTook(childId: string, seq: number | null = 2): Command {
  return { kind: "helperInputTaken", at: 6, childId, inputId: `input of ${childId}`, seq };
}

/** The parent reads the helper's journal. */
export function hearHelper(
  childId: string,
  seq: number,
  states: readonly CollabAgentState[],
  closed = false,
): Command {
  return { kind: "hearHelper", at: 7, childId, seq, taken: [], states, closed };
}

export function waitForHelpers(...childIds: readonly string[]): Help {
  return { kind: "wait", childIds, until: 30_000 };
}

/** The call `close` begins to close a helper. */
export function closeHelper(childId: string): Command {
  return {
    kind: "stepCall",
    at: 4,
    turnId: "turn-1",
    callId: "close",
    from: "proposed",
    step: { kind: "dispatch", again: true, plan: { closes: childId, previous: HELPER_RUNNING } },
  };
}

/** A thread whose model has made these tool calls and completed its answer. */
export function callingHelpers(...callIds: readonly string[]): ThreadState {
  const calls = callIds.map((callId): Command => {
    const call = {
      callId,
      name: "a tool",
      namespace: "multi_agent_v1",
      arguments: "{}",
      kind: "function",
    } as const;
    return { kind: "toolCalled", at: 2, turnId: "turn-1", attempt: 1, call };
  });
  return after(newThread(), startTurn(), ...calls, endModelCall());
}

/** A thread with the helper `child`, which works, and with further tool calls. */
export function helping(...callIds: readonly string[]): ThreadState {
  return after(
    callingHelpers("spawn", ...callIds),
    stepHelp("spawn", spawnHelper("child", "spawn")),
    helperMade("child"),
    helperTook("child"),
  );
}
