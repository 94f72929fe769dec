// Builders for tests of calls to tool servers in the core.
import type { Command } from "../../packages/host/src/core/commands.ts";
import type { RapCommand } from "../../packages/host/src/core/rap/commands.ts";
import { type LateCall, NO_RAP, type RapState } from "../../packages/host/src/core/rap/records.ts";
import type { ThreadState } from "../../packages/host/src/core/state.ts";
import { after, endModelCall, newThread, startTurn } from "./test-thread.ts";

/** A call of the tool `deploy` at the tool server `desk`, and the same call deferred. */
export const OUTSIDE_CALL = { callId: "c", server: "desk", via: "desk", tool: "deploy", args: "{}" };
export const LATE_CALL: LateCall = { ...OUTSIDE_CALL, turnId: "turn-0", until: 50 };

/** A thread with this state of tool servers. */
export function withRap(rap: Partial<RapState>, from: ThreadState = newThread()): ThreadState {
  return { ...from, rap: { ...NO_RAP, ...rap } };
}

/** The model of `turn-1` calls the tool `deploy`. */
export function callTool(callId: string): Command {
  return {
    kind: "toolCalled",
    at: 2,
    turnId: "turn-1",
    attempt: 1,
    call: { callId, name: "deploy", namespace: null, arguments: '{"to":"prod"}', kind: "function" },
  };
}

/** The call is sent. `more` are further fields of the step. */
export function sendCall(callId: string, via?: string, more: object = {}): Command {
  return {
    kind: "stepCall",
    at: 3,
    turnId: "turn-1",
    callId,
    from: "proposed",
    step: { kind: "dispatch", again: false, via, ...more },
  };
}

/** The tool server has acknowledged the call. */
export function awaitCall(callId: string, until: number | null = 99): Command {
  return {
    kind: "stepCall",
    at: 4,
    turnId: "turn-1",
    callId,
    from: "dispatched",
    step: { kind: "wait", until },
  };
}

/** A turn whose calls wait for the tool server `desk`. */
export function waitingFor(callIds: readonly string[], more: object = {}): ThreadState {
  return after(
    newThread(),
    startTurn(),
    ...callIds.map(callTool),
    endModelCall(),
    ...callIds.flatMap((callId) => [sendCall(callId, "desk", more), awaitCall(callId)]),
  );
}

/** A client adds input to `turn-1`. */
export function steerTurn(text = "and?"): Command {
  return {
    kind: "steer",
    at: 5,
    expectedTurnId: "turn-1",
    userItemId: "said",
    clientUserMessageId: null,
    input: [{ type: "text", text, text_elements: [] }],
  };
}

/** A tool server asks the user to choose between yes and no. */
export function askToChoose(
  requestId: number,
  more: Partial<Extract<RapCommand, { kind: "askChoice" }>> = {},
): RapCommand {
  return {
    kind: "askChoice",
    at: 6,
    load: newThread().loadEpoch,
    callId: "c",
    requestId,
    server: "desk",
    prompt: "Go on?",
    choices: ["yes", "no"],
    fallback: 1,
    responseUrl: "https://desk/answer",
    key: `choice c ${requestId}`,
    named: false,
    ...more,
  };
}

/** A tool server reports a call's result. */
export function reportOf(
  callId: string,
  more: Partial<Extract<RapCommand, { kind: "reportCall" }>["report"]> = {},
): RapCommand {
  const report = { output: "live", success: true, shown: { content: [], _meta: null }, subscription: false };
  return {
    kind: "reportCall",
    at: 9,
    load: newThread().loadEpoch,
    callId,
    eventId: `result of ${callId}`,
    report: { ...report, ...more },
  };
}

/** An event of the subscription `s`. */
export function eventOf(more: Partial<Extract<RapCommand, { kind: "receiveEvent" }>> = {}): RapCommand {
  return {
    kind: "receiveEvent",
    at: 9,
    load: newThread().loadEpoch,
    callId: "s",
    key: null,
    digest: "digest",
    eventId: "event",
    event: { output: "a bird", success: true, shown: { content: [], _meta: null } },
    childId: null,
    final: false,
    ...more,
  };
}
