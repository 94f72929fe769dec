import type { ThreadState } from "../state.ts";
import { findCall } from "../turn/call-list.ts";
import { withMoreContext } from "../turn/context-size.ts";
import { withStage, withTurn } from "../turn/fold.ts";
import { callsOf, ENDING, withCallArguments } from "../turn/phase.ts";
import type { HookRecord } from "./records.ts";

type HooksEnded = Extract<HookRecord, { type: "hooksEnded" }>;

export function foldHooksEnded(state: ThreadState, record: HooksEnded): ThreadState {
  const { contexts = [], feedback } = record.outcome;
  const shown = [...contexts, ...(feedback === undefined ? [] : [feedback])];
  return afterEvent(shown.reduce(withMoreContext, state), record);
}

function afterEvent(state: ThreadState, record: HooksEnded): ThreadState {
  const { turnId, event, subject, outcome } = record;
  switch (event) {
    case "sessionStart":
    case "subagentStart":
      return { ...state, startHooks: { epoch: state.loadEpoch } };
    case "preToolUse":
      return hookedCall(state, turnId, subject ?? "", outcome.input);
    case "permissionRequest": {
      const stage =
        state.turn?.id === turnId ? findCall(callsOf(state.turn), subject ?? "")?.stage : undefined;
      if (stage === undefined || stage.kind === "settled") return state;
      const call = { turnId, callId: subject ?? "" };
      if (outcome.answer !== undefined) return withStage(state, call, { kind: "heard", ...outcome.answer });
      if (stage.kind !== "proposed" && stage.kind !== "heard") return state;
      return withStage(state, call, { ...stage, undecided: true });
    }
    case "stop":
    case "subagentStop":
    case "postCompact":
      return withTurn(state, turnId, ({ stopBlocks = 0, phase }) => ({
        phase: phase.kind === "hooks" && phase.event === event ? ENDING : phase,
        stopBlocks: outcome.block === undefined ? stopBlocks : stopBlocks + 1,
      }));
    default:
      return state;
  }
}

/** Marks a proposed call as checked by `preToolUse` hooks, which may have replaced its arguments. */
function hookedCall(
  state: ThreadState,
  turnId: string,
  callId: string,
  input: string | undefined,
): ThreadState {
  const found = state.turn?.id === turnId ? findCall(callsOf(state.turn), callId) : undefined;
  if (found?.stage.kind !== "proposed") return state;
  const hooked = withStage(state, { turnId, callId }, { kind: "proposed", hooked: true });
  if (input === undefined) return hooked;
  return withTurn(hooked, turnId, ({ phase }) => ({ phase: withCallArguments(phase, callId, input) }));
}
