import type { ThreadItem } from "@bobbin/protocol";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { type CallState, isSettled } from "../turn/calls.ts";
import type { ToolCall } from "../turn/records.ts";
import { EVENT_TOOL } from "./events.ts";
import type { OutsideCall } from "./records.ts";

const MAX_LATE = 64;

/** All that a turn waits for is tool servers: who speaks meanwhile need not wait for them. */
export function isDeferrable({ rap }: ThreadState, { sampled, calls }: TurnState): boolean {
  const waited = calls.filter((call) => !isSettled(call));
  if (!sampled || waited.length === 0 || rap.late.length + waited.length > MAX_LATE) return false;
  return waited.every(({ stage }) => stage.kind === "waiting");
}

/** The model hears that they are still running; what they come to arrives later, as events. */
export function defer(state: ThreadState, turn: TurnState, at: number): readonly ThreadRecord[] {
  const { id: turnId } = turn;
  return turn.calls.flatMap(({ call, stage }): ThreadRecord[] => {
    if (stage.kind !== "waiting") return [];
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

/** A call as those outside know it. */
export function outsideCall({ turn }: ThreadState, { call, stage }: CallState): OutsideCall {
  const item = turn?.open.find(({ id }) => id === call.callId);
  const server = item?.type === "mcpToolCall" ? item.server : call.name;
  const via = ("via" in stage && stage.via) || server;
  return { callId: call.callId, server, via, tool: call.name, args: call.arguments };
}

function interim({ requests }: ThreadState, { callId, name }: ToolCall): string {
  const asked = requests.some((request) => request.callId === callId && request.aside !== undefined);
  const why = asked ? " It waits for the user, who was asked." : "";
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
