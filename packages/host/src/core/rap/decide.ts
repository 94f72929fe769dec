import type { ThreadItem } from "@bobbin/protocol";
import type { RapCommand } from "../commands.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { settleCall } from "../turn/step-call.ts";
import type { CallReport } from "./records.ts";

/** What tool servers post. None of it is refused: what nobody waits for changes nothing. */
export function decideRap(state: ThreadState, command: RapCommand): readonly ThreadRecord[] {
  // What an earlier load began has nothing to say to this one.
  if (state.status.type === "notLoaded" || command.load !== state.loadEpoch) return [];
  return report(state, command);
}

function report(
  state: ThreadState,
  { at, callId, report }: Extract<RapCommand, { kind: "reportCall" }>,
): readonly ThreadRecord[] {
  const { turn } = state;
  const found = turn?.calls.find(({ call }) => call.callId === callId);
  // A server may be quicker with its result than with saying that it took the call.
  if (!turn || (found?.stage.kind !== "waiting" && found?.stage.kind !== "dispatched")) return [];
  const { output, success } = report;
  return settleCall(state, turn, found, at, { output, success, item: reported(turn, callId, at, report) });
}

/** The call's item with what it came to. */
function reported(
  { open }: TurnState,
  callId: string,
  at: number,
  { success, shown }: CallReport,
): ThreadItem | undefined {
  const item = open.find(({ id }) => id === callId);
  if (item?.type !== "mcpToolCall") return undefined;
  return {
    ...item,
    status: success ? "completed" : "failed",
    result: { content: [...shown.content], structuredContent: null, _meta: shown._meta },
    durationMs: at - (item.startedAtMs ?? at),
    completedAtMs: at,
  };
}
