import type { ThreadItem } from "@bobbin/protocol";
import { waitCutShort } from "../children/helper-call-outcomes.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { type CallState, isSettled } from "../turn/call-stages.ts";
import { callsOf } from "../turn/phase.ts";
import type { ToolCall } from "../turn/records.ts";
import type { OutsideCall } from "./records.ts";
import { EVENT_TOOL } from "./tool-server-events.ts";

const MAX_LATE = 64;

/** Whether a turn waits only for tool servers and for ends of helpers. New input is not delayed by such a turn. */
export function isDeferrable({ rap }: ThreadState, { phase }: TurnState): boolean {
  if (phase.kind !== "calling") return false;
  const waited = phase.calls.filter((call) => !isSettled(call));
  if (rap.late.length + waited.length > MAX_LATE) return false;
  return waited.every(({ stage }) => stage.kind === "waiting" && stage.awaits?.kind !== "thread");
}

/**
 * Answers the waiting calls of a turn with interim outputs, so that the model can continue. Results of tool servers
 * arrive later as events; waits for helpers end.
 */
export function defer(state: ThreadState, turn: TurnState, at: number): readonly ThreadRecord[] {
  const { id: turnId } = turn;
  return callsOf(turn).flatMap(({ call, stage }): ThreadRecord[] => {
    if (stage.kind !== "waiting") return [];
    if (stage.awaits !== undefined) return [...waitCutShort(turn, { call, stage }, at)];
    const item = turn.open.find(({ id }) => id === call.callId);
    const output = interim(state, call);
    return [
      ...(item === undefined
        ? []
        : [{ type: "itemCompleted", turnId, at, item: running(item, at) } as const]),
      { type: "toolAnswered", turnId, at, callId: call.callId, output, success: true },
      {
        type: "callDeferred",
        turnId,
        at,
        call: {
          ...outsideCall(state, { call, stage }),
          turnId,
          until: stage.until,
          ...(stage.unacknowledged && { unacknowledged: true }),
        },
      },
    ];
  });
}

/** A call to a tool server, with the tool's name on that server. */
export function outsideCall({ turn }: ThreadState, { call, stage }: CallState): OutsideCall {
  const item = turn?.open.find(({ id }) => id === call.callId);
  const server = item?.type === "mcpToolCall" ? item.server : call.name;
  const via = ("via" in stage && stage.via) || server;
  return { callId: call.callId, server, via, tool: call.name, args: call.arguments };
}

function interim({ requests }: ThreadState, { callId, name }: ToolCall): string {
  const hasRequest = requests.some((request) => request.callId === callId && request.aside !== undefined);
  const why = hasRequest ? " It waits for the user, who was asked." : "";
  return `${name} is still running.${why} Do not call it again for this: what it comes to is given to you later, by itself, as a result of ${EVENT_TOOL}.`;
}

function running(item: ThreadItem, at: number): ThreadItem {
  if (item.type !== "mcpToolCall") return { ...item, completedAtMs: at };
  const content = [{ type: "text", text: "It is still running; its result comes later." }];
  return {
    ...item,
    status: "completed",
    result: { content, structuredContent: null, _meta: null },
    durationMs: at - (item.startedAtMs ?? at),
    completedAtMs: at,
  };
}
