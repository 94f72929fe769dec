import type { ThreadItem } from "@bobbin/protocol";
import type { TurnCommand } from "../commands.ts";
import type { ShownText } from "../decide.ts";
import { goalCall } from "../goal/call.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { isSettled } from "./calls.ts";
import { endTurn, requestSample } from "./ending.ts";

type StepCall = Extract<TurnCommand, { kind: "stepCall" }>;

/** Takes a call one step further; nothing if it has come further already. */
export function stepCall(
  state: ThreadState,
  turn: TurnState,
  { at, turnId, callId, from, step }: StepCall,
  shown: ShownText,
): readonly ThreadRecord[] {
  const found = turn.calls.find(({ call }) => call.callId === callId);
  if (found?.stage.kind !== from) return [];
  switch (step.kind) {
    case "ask":
      return [
        ...granted(turnId, step.grant),
        ...started(turn, at, step.item),
        { type: "requestSent", request: { ...step.ask, id: step.requestId, at, turnId, callId } },
      ];
    case "dispatch":
      return [
        ...granted(turnId, step.grant),
        ...started(turn, at, step.item),
        { type: "toolDispatched", turnId, at, callId, again: step.again },
      ];
    case "wait":
      return [{ type: "toolWaiting", turnId, at, callId, until: step.until }];
    case "settle": {
      const { item, plan } = step;
      const { goal, output, success } =
        step.goal === undefined ? { ...step, goal: [] } : goalCall(state, step.goal);
      const others = turn.calls.filter((one) => one !== found);
      return [
        ...granted(turnId, step.grant),
        ...(plan === undefined
          ? []
          : ([{ type: "planUpdated", turnId, explanation: plan.explanation, plan: plan.steps }] as const)),
        ...goal,
        ...started(turn, at, item),
        ...(item === undefined ? [] : ([{ type: "itemCompleted", turnId, at, item }] as const)),
        { type: "toolAnswered", turnId, at, callId, output, success },
        ...(turn.sampled && others.every(isSettled) ? [requestSample(turn)] : []),
      ];
    }
    case "interrupt":
      return endTurn(state, at, "interrupted", shown);
  }
}

function started(
  { id: turnId, open }: TurnState,
  at: number,
  item: ThreadItem | undefined,
): readonly ThreadRecord[] {
  if (item === undefined || open.some(({ id }) => id === item.id)) return [];
  return [{ type: "itemStarted", turnId, at, item: { ...item, completedAtMs: null } }];
}

function granted(turnId: string, key: string | undefined): readonly ThreadRecord[] {
  return key === undefined ? [] : [{ type: "approvalGranted", turnId, key }];
}
