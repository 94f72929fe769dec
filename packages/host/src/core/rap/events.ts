import type { ThreadItem } from "@bobbin/protocol";
import { fold } from "../fold.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import type { OutsideCall, RapEvent } from "./records.ts";

/** The name by which models are shown what they did not call for; no tool has it. */
export const EVENT_TOOL = "receive_event__injected";

/** What it is shown as called with. */
export function eventArguments({ tool, callId, args }: OutsideCall): {
  readonly original_tool_name: string;
  readonly original_tool_call_id: string;
  readonly original_args: unknown;
} {
  return { original_tool_name: tool, original_tool_call_id: callId, original_args: parsed(args) };
}

/** Puts what has come in the meantime before each call of the model. */
export function withEvents(
  before: ThreadState,
  records: readonly ThreadRecord[],
  at: number | undefined,
): readonly ThreadRecord[] {
  if (!records.some(({ type }) => type === "sampleRequested")) return records;
  const out: ThreadRecord[] = [];
  let state = before;
  for (const record of records) {
    // A reviewer, say, is not shown the conversation.
    if (record.type === "sampleRequested" && state.turn?.kind === "regular") {
      const { turnId } = record;
      for (const event of state.rap.events) out.push(...injected(turnId, at ?? state.updatedAt, event));
      state = { ...state, rap: { ...state.rap, events: [] } };
    }
    out.push(record);
    state = fold(state, record);
  }
  return out;
}

/** Exactly what an event consists of: what it is made from may hold more. */
export function eventReceived(at: number, event: RapEvent, key: string | null): ThreadRecord {
  const { id, kind, call, output, success, shown } = event;
  return { type: "eventReceived", at, event: { id, kind, call, output, success, shown }, key };
}

/** A turn that begins because something has come. */
export function startEvents(
  state: ThreadState,
  { at, turnId }: { readonly at: number; readonly turnId: string },
): readonly ThreadRecord[] {
  if (state.turn !== null || state.rap.events.length === 0) return [];
  return [
    { type: "turnStarted", turnId, at, input: [], outputSchema: null },
    { type: "sampleRequested", turnId, attempt: 1 },
  ];
}

function injected(turnId: string, at: number, event: RapEvent): readonly ThreadRecord[] {
  const item = eventItem(event, at);
  return [
    { type: "eventInjected", turnId, at, event },
    { type: "itemStarted", turnId, at, item: { ...item, completedAtMs: null } },
    { type: "itemCompleted", turnId, at, item },
  ];
}

function eventItem({ id, call, success, shown }: RapEvent, at: number): ThreadItem {
  return {
    type: "mcpToolCall",
    id,
    server: call.server,
    tool: EVENT_TOOL,
    status: success ? "completed" : "failed",
    arguments: eventArguments(call),
    appContext: null,
    mcpAppUi: null,
    pluginId: null,
    readOnlyHint: true,
    result: { content: [...shown.content], structuredContent: null, _meta: shown._meta },
    error: null,
    durationMs: 0,
    startedAtMs: at,
    completedAtMs: at,
  };
}

function parsed(args: string): unknown {
  try {
    return JSON.parse(args.trim() || "{}");
  } catch {
    return args;
  }
}
