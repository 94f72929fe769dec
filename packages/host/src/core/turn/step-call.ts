import type { ThreadItem } from "@bobbin/protocol";
import type { TurnCommand } from "../commands.ts";
import type { ShownText } from "../decide.ts";
import { goalCall } from "../goal/call.ts";
import type { ThreadRecord } from "../records.ts";
import type { PendingRequest } from "../requests/records.ts";
import { clearAsides } from "../requests/resolve.ts";
import { startReview } from "../reviews/decide.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { terminalEnded } from "../terminals/decide.ts";
import { findCall, othersSettled } from "./call-list.ts";
import { type CallState, type CallStep, givenUp } from "./calls.ts";
import { endTurn, requestSample } from "./ending.ts";

type StepCall = Extract<TurnCommand, { kind: "stepCall" }>;

/** Takes a call one step further; nothing if it has come further already. */
export function stepCall(
  state: ThreadState,
  turn: TurnState,
  { at, turnId, callId, from, step }: StepCall,
  shown: ShownText,
): readonly ThreadRecord[] {
  const found = findCall(turn.calls, callId);
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
    case "settle":
      return [
        // It had its time, and whoever works on it does so for nothing.
        ...(from === "waiting" ? ([{ type: "callCancelled", turnId, at, callId }] as const) : []),
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

/** The state in which an item has completed already. */
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

type Settle = Omit<Extract<CallStep, { kind: "settle" }>, "kind">;

/** Gives a call its answer; the model is called again when it was the last one that had none. */
export function settleCall(
  state: ThreadState,
  turn: TurnState,
  found: CallState,
  at: number,
  settle: Settle,
): readonly ThreadRecord[] {
  const { item, plan, grant, unsubscribe, blobs, left } = settle;
  const { goal, output, success } =
    settle.goal === undefined ? { ...settle, goal: [] } : goalCall(state, settle.goal);
  const { id: turnId, open } = turn;
  const { callId } = found.call;
  const shown = open.find(({ id }) => id === callId);
  // What was shown as running does not run any longer, whether or not the tool says how it ended.
  const ended =
    left === undefined ? (item ?? (shown && { ...givenUp(shown, at), completedAtMs: at })) : undefined;
  return [
    ...clearAsides(state, at, callId, left !== undefined),
    ...granted(turnId, at, grant),
    ...(plan === undefined
      ? []
      : ([{ type: "planUpdated", turnId, explanation: plan.explanation, plan: plan.steps }] as const)),
    ...(unsubscribe === undefined
      ? []
      : ([{ type: "subscriptionEnded", at, callId: unsubscribe, by: "cancelled" }] as const)),
    ...goal,
    ...started(turn, at, ended),
    ...(ended === undefined ? [] : ([{ type: "itemCompleted", turnId, at, item: ended }] as const)),
    ...(left === undefined ? [] : ([{ type: "terminalLeft", turnId, at, itemId: callId, ...left }] as const)),
    ...endedTerminal(state, at, settle.ended),
    { type: "toolAnswered", turnId, at, callId, output, success, ...(blobs && { blobs }) },
    ...(turn.sampled && othersSettled(turn.calls, found) ? [requestSample(turn)] : []),
  ];
}

function terminalInput(
  { terminals }: ThreadState,
  turnId: string,
  at: number,
  input: Extract<CallStep, { kind: "dispatch" }>["input"],
): readonly ThreadRecord[] {
  const terminal = terminals.find(({ processId }) => processId === input?.processId);
  if (input === undefined || terminal === undefined) return [];
  return [{ type: "terminalInput", turnId, at, itemId: terminal.item.id, ...input }];
}

function endedTerminal(state: ThreadState, at: number, ended: Settle["ended"]): readonly ThreadRecord[] {
  const terminal = state.terminals.find(({ processId }) => processId === ended?.processId);
  if (ended === undefined || terminal === undefined) return [];
  return [...clearAsides(state, at, terminal.item.id), terminalEnded(terminal, at, ended.end)];
}

function started(
  { id: turnId, open }: TurnState,
  at: number,
  item: ThreadItem | undefined,
): readonly ThreadRecord[] {
  if (item === undefined || open.some(({ id }) => id === item.id)) return [];
  return [{ type: "itemStarted", turnId, at, item: { ...item, completedAtMs: null } }];
}

function granted(turnId: string, at: number, key: string | undefined): readonly ThreadRecord[] {
  return key === undefined ? [] : [{ type: "approvalGranted", turnId, key, grantedAt: at }];
}
