import type { ThreadItem } from "@bobbin/protocol";
import { type Fault, fault } from "../../errors.ts";
import type { RapCommand } from "../commands.ts";
import type { ThreadRecord } from "../records.ts";
import { clearAsides } from "../requests/resolve.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { findCall } from "../turn/call-list.ts";
import { isOutside } from "../turn/calls.ts";
import { OUTCOME_UNKNOWN } from "../turn/restart.ts";
import { settleCall } from "../turn/step-call.ts";
import { askChoice, askOAuth, callOf } from "./ask.ts";
import { eventReceived, startEvents } from "./events.ts";
import { outsideCall } from "./late.ts";
import type { CallReport, LateCall, OutsideCall, RapEvent } from "./records.ts";
import { isRepeat, recordedName } from "./repeats.ts";
import { isFullFor, isFullForView } from "./weight.ts";

/** Live subscriptions of one thread. */
const MAX_SUBSCRIPTIONS = 64;
/** What may wait for the model to be shown it; who sends more has to try again later. */
const MAX_EVENTS = 256;
/** Children of a thread at once. */
const MAX_CHILDREN = 32;

/** What tool servers post. What nobody waits for is not refused, and changes nothing. */
export function decideRap(state: ThreadState, command: RapCommand): readonly ThreadRecord[] | Fault {
  if (state.status.type === "notLoaded") return [];
  // What an earlier load began has nothing to say to this one.
  if ("load" in command && command.load !== state.loadEpoch) return [];
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
      // A call that is over has no more use for it.
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

function report(
  state: ThreadState,
  command: Extract<RapCommand, { kind: "reportCall" }>,
): readonly ThreadRecord[] | Fault {
  const { turn, rap } = state;
  const { at, callId, report } = command;
  const found = turn ? findCall(turn.calls, callId) : undefined;
  // A server may be quicker with its result than with saying that it took the call.
  if (turn && found !== undefined && isOutside(found)) {
    const { output, success } = report;
    return [
      ...subscribed(state, turn.id, at, outsideCall(state, found), report),
      ...settleCall(state, turn, found, at, { output, success, item: reported(turn, callId, at, report) }),
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
  // It may have overtaken the result that begins its subscription.
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

/** A late call has had its time. */
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
  // One at a time passes, however large: there would never be more room for it.
  const waits = events.length > 0 || children.some(({ task }) => task !== null);
  const full = events.length >= MAX_EVENTS || (waits && isFullFor(state, coming));
  return full ? fault("overloaded") : undefined;
}

/** One that is too many is not there: whoever began it is told to stop. */
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

/** Calls that the thread gives up by closing, with all that was asked for them. */
export function lateCancelled(state: ThreadState, at: number): readonly ThreadRecord[] {
  return state.rap.late.flatMap(({ turnId, callId }): ThreadRecord[] => [
    ...clearAsides(state, at, callId),
    { type: "callCancelled", turnId, at, callId },
  ]);
}
