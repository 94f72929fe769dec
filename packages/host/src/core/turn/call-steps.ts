import type { ThreadItem } from "@bobbin/protocol";
import { startReview } from "../approval-reviews/start-review.ts";
import { helpCall } from "../children/helper-call-outcomes.ts";
import type { ShownText } from "../decide.ts";
import type { ThreadRecord } from "../records.ts";
import type { PendingRequest } from "../requests/records.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { findCall } from "./call-list.ts";
import type { CallState, CallStep } from "./call-stages.ts";
import { granted, started, terminalInput } from "./call-step-records.ts";
import type { TurnCommand } from "./commands.ts";
import { endTurn } from "./end-turn.ts";
import { callsOf } from "./phase.ts";
import { settleCall } from "./settle-call.ts";

type StepCall = Extract<TurnCommand, { kind: "stepCall" }>;

/** The records of a tool call's next step. None if the call is no longer in the stage `from`. */
export function stepCall(
  state: ThreadState,
  turn: TurnState,
  { at, turnId, callId, from, step }: StepCall,
  shown: ShownText,
): readonly ThreadRecord[] {
  const found = findCall(callsOf(turn), callId);
  if (found?.stage.kind !== from) return [];
  switch (step.kind) {
    case "ask":
      return [
        ...granted(turnId, at, step.grant),
        ...started(turn, at, step.item),
        ...(startReview(state, found.call, step, { at, turnId }) ?? [
          { type: "requestSent", request: requestOf(step, { at, turnId, callId }) } as const,
        ]),
      ];
    case "dispatch":
      return [
        ...granted(turnId, at, step.grant),
        ...started(turn, at, step.item),
        {
          type: "toolDispatched",
          turnId,
          at,
          callId,
          again: step.again,
          ...(step.via && { via: step.via }),
          ...(step.until !== undefined && { until: step.until }),
          ...(step.plan !== undefined && { plan: step.plan }),
          ...(step.before !== undefined && { before: step.before }),
        },
        ...terminalInput(state, turnId, at, step.input),
      ];
    case "wait":
      return [{ type: "toolWaiting", turnId, at, callId, until: step.until }];
    case "help":
      return helpCall(state, turn, found, at, step);
    case "settle":
      return [
        // The deadline of the call has passed, so its tool server is notified of the cancellation.
        ...(isGivenUp(found) ? ([{ type: "callCancelled", turnId, at, callId }] as const) : []),
        ...settleCall(state, turn, found, at, step),
      ];
    case "interrupt":
      return [
        ...(step.item === undefined
          ? []
          : ([{ type: "itemCompleted", turnId, at, item: step.item }] as const)),
        ...endTurn(withoutOpen(state, step.item), at, "interrupted", shown),
      ];
  }
}

/** Whether a tool server may still be working on the call. */
function isGivenUp({ stage }: CallState): boolean {
  return stage.kind === "waiting" && stage.awaits === undefined;
}

/** The state without an open item that has been completed. */
function withoutOpen(state: ThreadState, item: ThreadItem | undefined): ThreadState {
  const { turn } = state;
  if (item === undefined || turn === null) return state;
  return { ...state, turn: { ...turn, open: turn.open.filter(({ id }) => id !== item.id) } };
}

function requestOf(
  { requestId, ask, question, argumentsJson }: Extract<CallStep, { kind: "ask" }>,
  by: { readonly at: number; readonly turnId: string; readonly callId: string },
): PendingRequest {
  return {
    ...ask,
    id: requestId,
    ...by,
    ...(question !== undefined && { question }),
    ...(argumentsJson !== undefined && { argumentsJson }),
  };
}
