import type { ThreadItem } from "@bobbin/protocol";
import { goalToolCall } from "../goal/goal-tool-call.ts";
import type { ThreadRecord } from "../records.ts";
import { clearAsides } from "../requests/resolve-request.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { terminalEnded } from "../terminals/decide.ts";
import { othersSettled } from "./call-list.ts";
import { type CallState, type CallStep, givenUp } from "./call-stages.ts";
import { granted, started, terminalInput } from "./call-step-records.ts";
import { requestSample } from "./end-turn.ts";

type Settle = Omit<Extract<CallStep, { kind: "settle" }>, "kind">;

/** Settles a tool call with its output. After the last unsettled call, the model is called again. */
export function settleCall(
  state: ThreadState,
  turn: TurnState,
  found: CallState,
  at: number,
  settle: Settle,
): readonly ThreadRecord[] {
  const { item, plan, grant, unsubscribe, blobs, left } = settle;
  const { goal, output, success } =
    settle.goal === undefined ? { ...settle, goal: [] } : goalToolCall(state, settle.goal);
  const { id: turnId, open } = turn;
  const { callId } = found.call;
  const shown = open.find(({ id }) => id === callId);
  // An item that clients saw as running is completed even if the tool returns none.
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
    ...completed(turnId, at, ended, blobs),
    ...(left === undefined ? [] : ([{ type: "terminalLeft", turnId, at, itemId: callId, ...left }] as const)),
    ...terminalInput(state, turnId, at, settle.looked && { ...settle.looked, stdin: "" }),
    ...endedTerminal(state, at, settle.ended),
    { type: "toolAnswered", turnId, at, callId, output, success, ...(blobs && { blobs }) },
    ...(turn.phase.kind === "calling" && othersSettled(turn.phase.calls, found) ? [requestSample(turn)] : []),
  ];
}

function completed(
  turnId: string,
  at: number,
  item: ThreadItem | undefined,
  blobs: Settle["blobs"],
): readonly ThreadRecord[] {
  if (item === undefined) return [];
  // Only items of MCP calls contain the tool's output.
  const references = item.type === "mcpToolCall" && blobs !== undefined ? { blobs } : {};
  return [{ type: "itemCompleted", turnId, at, item, ...references }];
}

function endedTerminal(state: ThreadState, at: number, ended: Settle["ended"]): readonly ThreadRecord[] {
  const terminal = state.terminals.find(({ processId }) => processId === ended?.processId);
  if (ended === undefined || terminal === undefined) return [];
  return [...clearAsides(state, at, terminal.item.id), terminalEnded(terminal, at, ended.end)];
}
