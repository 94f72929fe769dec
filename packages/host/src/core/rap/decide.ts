import type { ThreadItem } from "@bobbin/protocol";
import { type Fault, fault } from "../../errors.ts";
import type { ThreadRecord } from "../records.ts";
import { clearAsides } from "../requests/resolve-request.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { findCall } from "../turn/call-list.ts";
import { isOutside, isSettled } from "../turn/call-stages.ts";
import { OUTCOME_UNKNOWN } from "../turn/dead-host-recovery.ts";
import { runningCalls } from "../turn/phase.ts";
import { settleCall } from "../turn/settle-call.ts";
import type { RapCommand } from "./commands.ts";
import { outsideCall } from "./deferred-calls.ts";
import { isFullFor, isFullForView } from "./memory-limit.ts";
import type { CallReport, LateCall, OutsideCall, RapEvent } from "./records.ts";
import { isRepeat, recordedName } from "./repeated-events.ts";
import { eventReceived, startEvents } from "./tool-server-events.ts";
import { askChoice, askOAuth, callOf } from "./tool-server-questions.ts";

/** Limit on the live subscriptions of a thread. */
const MAX_SUBSCRIPTIONS = 64;
/**
 * Limit on the events that wait for the model. Further events are refused as `overloaded`, and their senders try
 * again later.
 */
const MAX_EVENTS = 256;
/** Limit on the children of a thread that handle events. */
const MAX_CHILDREN = 32;

/**
 * Decides about messages of tool servers. A message that no call or subscription waits for is ignored without an
 * error.
 */
export function decideRap(state: ThreadState, command: RapCommand): readonly ThreadRecord[] | Fault {
  if (state.status.type === "notLoaded") return [];
  // The message belongs to an earlier load of the thread.
  if ("load" in command && command.load !== state.loadEpoch) return [];
  if ("callId" in command && isToBeSent(state, command.callId)) return fault("overloaded");
  switch (command.kind) {
    case "reportCall":
      return report(state, command);
    case "receiveEvent":
      return receive(state, command);
    case "updateView": {
      const { at, server, callId, viewType, view } = command;
      if (isFullForView(state, viewType, view)) return fault("overloaded");
      return [{ type: "viewUpdated", at, server, callId, viewType, view }];
    }
    case "askChoice":
      return askChoice(state, command);
    case "askOAuth":
      return askOAuth(state, command);
    case "choiceDelayed": {
      const { at, requestId, until } = command;
      const due = state.rap.choices.find((choice) => choice.requestId === requestId);
      if (due === undefined) return [];
      // The call has ended, so the choice is not delivered any more.
      if (callOf(state, due.callId) === undefined) return [{ type: "choicePosted", at, requestId }];
      return [{ type: "choiceDelayed", at, requestId, until }];
    }
    case "choicePosted": {
      const { at, requestId } = command;
      const due = state.rap.choices.some((choice) => choice.requestId === requestId);
      return due ? [{ type: "choicePosted", at, requestId }] : [];
    }
    case "expireCall":
      return expire(state, command);
    case "lookUp":
      return [];
    case "startEvents":
      return startEvents(state, command);
  }
}

/**
 * Whether a tool server's message is about a call that the journal does not show as sent, because a power cut lost
 * the record. The message is refused as `overloaded`: the host sends the call again with the same ID, and the server
 * then repeats its messages.
 */
function isToBeSent(state: ThreadState, callId: string): boolean {
  const found = findCall(runningCalls(state), callId);
  return found !== undefined && !isOutside(found) && !isSettled(found);
}

function report(
  state: ThreadState,
  command: Extract<RapCommand, { kind: "reportCall" }>,
): readonly ThreadRecord[] | Fault {
  const { turn, rap } = state;
  const { at, callId, report } = command;
  const found = findCall(runningCalls(state), callId);
  // The result may arrive before the acknowledgement of the call.
  if (turn && found !== undefined && isOutside(found)) {
    const { output, success, blobs } = report;
    const item = reported(turn, callId, at, report);
    return [
      ...subscribed(state, turn.id, at, outsideCall(state, found), report),
      ...settleCall(state, turn, found, at, { output, success, item, blobs }),
    ];
  }
  const late = rap.late.find((call) => call.callId === callId);
  if (late === undefined) return [];
  const { turnId, call } = withoutDeadline(late);
  return (
    tooMuch(state, report) ?? [
      ...clearAsides(state, at, callId),
      ...subscribed(state, turnId, at, call, report),
      eventReceived(at, { ...report, id: command.eventId, kind: "result", call }, null),
    ]
  );
}

function receive(
  state: ThreadState,
  command: Extract<RapCommand, { kind: "receiveEvent" }>,
): readonly ThreadRecord[] | Fault {
  const { at, callId, eventId, event, childId, final } = command;
  const call = state.rap.subscriptions.find((subscription) => subscription.callId === callId);
  // The event came before the result that starts its subscription. The refusal `overloaded` makes the server send the
  // event again.
  if (call === undefined && callOf(state, callId) !== undefined) return fault("overloaded");
  if (call === undefined || isRepeat(state.rap.keys, command)) return [];
  if (childId !== null && state.children.length >= MAX_CHILDREN) return fault("overloaded");
  const full = tooMuch(state, event);
  if (full !== undefined) return full;
  const shown: RapEvent = { ...event, id: eventId, kind: "event", call };
  const key = recordedName(command);
  return [
    childId === null ? eventReceived(at, shown, key) : { type: "childDue", at, childId, event: shown, key },
    ...(final ? ([{ type: "subscriptionEnded", at, callId, by: "final" }] as const) : []),
  ];
}

/** Ends a deferred call at its deadline. */
function expire(
  state: ThreadState,
  { at, callId, eventId }: Extract<RapCommand, { kind: "expireCall" }>,
): readonly ThreadRecord[] {
  const late = state.rap.late.find((call) => call.callId === callId);
  if (late === undefined) return [];
  const { turnId, call } = withoutDeadline(late);
  const text = late.unacknowledged
    ? `Error: ${OUTCOME_UNKNOWN}`
    : `Error: ${call.tool} did not answer in time.`;
  const shown = { content: [{ type: "text", text }], _meta: null };
  return [
    ...clearAsides(state, at, callId),
    { type: "callCancelled", turnId, at, callId },
    eventReceived(at, { id: eventId, kind: "result", call, output: text, success: false, shown }, null),
  ];
}

function withoutDeadline(late: LateCall): { readonly turnId: string; readonly call: OutsideCall } {
  const { turnId, callId, server, via, tool, args } = late;
  return { turnId, call: { callId, server, via, tool, args } };
}

function tooMuch(state: ThreadState, coming: object): Fault | undefined {
  const { children } = state;
  const { events } = state.rap;
  // An event is accepted if nothing else waits, however large it is: waiting would never make room for it.
  const waits = events.length > 0 || children.some(({ task }) => task !== null);
  const full = events.length >= MAX_EVENTS || (waits && isFullFor(state, coming));
  return full ? fault("overloaded") : undefined;
}

/**
 * Records a new subscription. Beyond the limit, the subscription is cancelled at once, and its server is notified.
 */
function subscribed(
  { rap }: ThreadState,
  turnId: string,
  at: number,
  call: OutsideCall,
  { subscription }: CallReport,
): readonly ThreadRecord[] {
  if (!subscription) return [];
  if (rap.subscriptions.length >= MAX_SUBSCRIPTIONS)
    return [{ type: "subscriptionEnded", at, callId: call.callId, by: "cancelled" }];
  const text = `The call ${call.callId} of ${call.tool} has begun a subscription: events come by themselves until it is ended, by cancel_subscription with that tool_call_id if they are no longer needed.`;
  return [
    { type: "subscribed", turnId, at, subscription: call },
    { type: "callNoted", turnId, at, text },
  ];
}

/** Returns the item of a call, completed with the call's result. */
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

/** Cancels the deferred calls of a closed thread, and withdraws the requests of these calls. */
export function lateCancelled(state: ThreadState, at: number): readonly ThreadRecord[] {
  return state.rap.late.flatMap(({ turnId, callId }): ThreadRecord[] => [
    ...clearAsides(state, at, callId),
    { type: "callCancelled", turnId, at, callId },
  ]);
}
