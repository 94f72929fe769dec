import type { ThreadItem } from "@bobbin/protocol";
import { fold } from "../fold.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import type { OutsideCall, RapEvent } from "./records.ts";

/**
 * The tool name under which events appear to models, as if the model had called this tool. No real tool may have the
 * name.
 */
export const EVENT_TOOL = "receive_event__injected";

/** The arguments of the tool call by which an event appears to the model. */
export function eventArguments({ tool, callId, args }: OutsideCall): {
  readonly original_tool_name: string;
  readonly original_tool_call_id: string;
  readonly original_args: unknown;
} {
  return { original_tool_name: tool, original_tool_call_id: callId, original_args: parsed(args) };
}

/** Adds the events that wait for the model before each model call. */
export function withEvents(
  before: ThreadState,
  records: readonly ThreadRecord[],
  at: number | undefined,
): readonly ThreadRecord[] {
  if (!records.some(({ type }) => type === "sampleRequested")) return records;
  const out: ThreadRecord[] = [];
  let state = before;
  for (const record of records) {
    // Regular turns only: a code review, for example, does not include the conversation.
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

/** The record of a received event. Copies only the fields that belong to an event. */
export function eventReceived(at: number, event: RapEvent, key: string | null): ThreadRecord {
  const { id, kind, call, output, success, shown, blobs } = event;
  const exact = { id, kind, call, output, success, shown, ...(blobs && { blobs }) };
  return { type: "eventReceived", at, event: exact, key };
}

/** Starts a turn because events wait for the model. */
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
    { type: "itemCompleted", turnId, at, item, ...(event.blobs && { blobs: event.blobs }) },
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
