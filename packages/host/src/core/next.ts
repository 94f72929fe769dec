import type { RunningReview } from "./approval-reviews/records.ts";
import type { Helper } from "./children/helper-thread-state.ts";
import type { Child } from "./children/records.ts";
import type { LastHooks } from "./hooks/records.ts";
import { isPlanning } from "./life/collaboration-modes.ts";
import { areNoticesDue } from "./life/due-tool-server-notices.ts";
import type { DueChoice } from "./rap/records.ts";
import type { DueNetworkRule, PendingRequest } from "./requests/records.ts";
import type { ThreadState, TurnState } from "./state.ts";
import { isShell } from "./terminals/decide.ts";
import type { CallStage, CallState } from "./turn/call-stages.ts";
import { isDiffDue } from "./turn/file-changes.ts";
import type { Compacting, ToolCall } from "./turn/records.ts";
import type { Presence } from "./unattended-thread.ts";

/** Work that the state of a thread requires. The runner does not start an effect while one with the same key runs. */
export type Effect =
  | SampleEffect
  | CompactEffect
  | CallEffect
  | ReviewEffect
  | StartEventsEffect
  | StartQueuedEffect
  | ContinueGoalEffect
  | LateCallEffect
  | PostChoiceEffect
  | ChildEffect
  | HelperEffect
  | DiffEffect
  | CommandEffect
  | LastHooksEffect
  | NetworkRuleEffect
  | NoticesEffect
  | ExpireQuestionEffect;

export interface SampleEffect {
  readonly key: string;
  readonly kind: "sample";
  readonly turnId: string;
  readonly attempt: number;
  /** The earliest time of the model call; null for now. */
  readonly due: number | null;
}

/** Calls the model for a summary of the conversation. */
export interface CompactEffect extends Omit<SampleEffect, "kind"> {
  readonly kind: "compact";
  readonly compacting: Compacting;
}

export interface CallEffect {
  readonly key: string;
  readonly kind: "call";
  readonly turnId: string;
  readonly call: ToolCall;
  readonly stage: CallStage;
  /** The deadline of a call that waits for its tool; null if the tool has a step to perform now. */
  readonly due: number | null;
}

/** Has a model review an approval in place of a person. */
export interface ReviewEffect {
  readonly key: string;
  readonly kind: "review";
  readonly turnId: string;
  readonly callId: string;
  /** Null if the call continues during the review. */
  readonly call: ToolCall | null;
  readonly review: RunningReview;
}

/** Ends a deferred call at its deadline. */
export interface LateCallEffect {
  readonly key: string;
  readonly kind: "lateCall";
  readonly callId: string;
  readonly due: number;
}

/** Creates a child thread, or waits for its end. */
export interface ChildEffect {
  readonly key: string;
  readonly kind: "child";
  readonly child: Child;
}

/** Creates a helper's thread, sends input to it, or reads news from its journal. */
export interface HelperEffect {
  readonly key: string;
  readonly kind: "helper";
  readonly what: "make" | "send" | "hear";
  readonly helper: Helper;
}

/** Runs the last hooks of a turn. */
export interface LastHooksEffect {
  readonly key: string;
  readonly kind: "lastHooks";
  readonly turnId: string;
  readonly event: LastHooks;
}

/** Follows a command that no call waits for: a background terminal, or a shell command of the user. */
export interface CommandEffect {
  readonly key: string;
  readonly kind: "command";
  readonly turnId: string;
  readonly itemId: string;
  /** The process ID of a background terminal; null for a shell command of the user. */
  readonly processId: string | null;
}

/** Writes a network rule to the rules file. */
export interface NetworkRuleEffect {
  readonly key: string;
  readonly kind: "networkRule";
  readonly rule: DueNetworkRule;
}

/** Notifies tool servers of cancellations, or of the thread's closing, by committing the records of the notices. */
export interface NoticesEffect {
  readonly key: string;
  readonly kind: "notices";
}

/** Expires a request that no client has answered before its deadline. */
export interface ExpireQuestionEffect {
  readonly key: string;
  readonly kind: "expireQuestion";
  readonly requestId: number;
  /** The time since which no client has been connected that could answer. */
  readonly since: number;
  readonly due: number;
}

/** Posts the user's choice to the tool server. */
export interface PostChoiceEffect {
  readonly key: string;
  readonly kind: "postChoice";
  readonly choice: DueChoice;
  /** The earliest time of the attempt; null for now. */
  readonly due: number | null;
}

/** Starts a turn for events of tool servers. */
export interface StartEventsEffect {
  readonly key: string;
  readonly kind: "startEvents";
}

/** Sends the file changes of the turn to clients. */
export interface DiffEffect {
  readonly key: string;
  readonly kind: "diff";
  readonly turnId: string;
  /** The number of calls that the diff includes. */
  readonly upTo: number;
}

/** Starts the turn of a queued submission. */
export interface StartQueuedEffect {
  readonly key: string;
  readonly kind: "startQueued";
  readonly id: string;
}

/** Starts a turn for the thread's goal. */
export interface ContinueGoalEffect {
  readonly key: string;
  readonly kind: "continueGoal";
}

/**
 * Names the effects that must run for a thread now. The runner starts missing ones and stops those that are no longer
 * named, so that start, wakeup and restart use the same code. For a thread that is not loaded, only notices are due;
 * the host with its claim sends them.
 */
export function next(state: ThreadState, presence: Presence = null): readonly Effect[] {
  if (state.status.type === "notLoaded") return noticesOf(state);
  const { late, choices, cancels = [] } = state.rap;
  const { terminals, children, networkRules, helpers } = state;
  const { asideReviews = [] } = state;
  const expiries = questionExpiries(state.requests, presence);
  const others = [
    late,
    choices,
    children,
    helpers.open,
    terminals,
    networkRules,
    asideReviews,
    cancels,
    expiries,
  ];
  if (others.every(({ length }) => length === 0)) return nextOfTurn(state);
  return [
    ...nextOfTurn(state),
    ...networkRules.map(networkRuleEffect),
    ...asideReviews.map((review) => reviewEffect(review.turnId, review.callId, null, review)),
    ...terminals.map(({ turnId, item, processId }) => commandEffect(turnId, item.id, processId)),
    ...lateCalls(state),
    ...choices.map(postChoice),
    ...children.map(ofChild),
    ...helpers.open.flatMap(ofHelper),
    ...noticesOf(state),
    ...expiries,
  ];
}

/** The effects that depend on connected clients. They change when clients connect and disconnect. */
export function questionExpiries(
  requests: readonly PendingRequest[],
  presence: Presence,
): readonly ExpireQuestionEffect[] {
  if (presence === null || requests.length === 0) return NO_EXPIRIES;
  return requests.map(({ id, at }) => {
    const since = Math.max(at, presence.since);
    const due = since + presence.questionDeadlineMs;
    return { key: `question ${id} ${presence.since}`, kind: "expireQuestion", requestId: id, since, due };
  });
}

const NO_EXPIRIES: readonly ExpireQuestionEffect[] = [];

function nextOfTurn(state: ThreadState): readonly Effect[] {
  if (state.turn === null) return [...lateDiff(state), ...nextTurn(state)];
  const { id: turnId, open } = state.turn;
  const shells = open.filter(isShell).map(({ id }) => commandEffect(turnId, id, null));
  return [...diffOf(state.turn), ...nextOfPhase(state.turn), ...shells];
}

function nextOfPhase({ id: turnId, attempt, phase }: TurnState): readonly Effect[] {
  switch (phase.kind) {
    case "sampling": {
      const key = `sample ${turnId} ${attempt}`;
      const sample: SampleEffect = { key, kind: "sample", turnId, attempt, due: phase.due };
      return [sample, ...phase.calls.flatMap((call) => effectsOfCall(turnId, call))];
    }
    case "compacting": {
      const key = `compact ${turnId} ${attempt}`;
      return [{ key, kind: "compact", turnId, attempt, due: phase.due, compacting: phase.how }];
    }
    case "calling":
      return phase.calls.flatMap((call) => effectsOfCall(turnId, call));
    case "hooks": {
      const { event } = phase;
      return [{ key: `hooks ${turnId} ${attempt} ${event}`, kind: "lastHooks", turnId, event }];
    }
    case "shell":
    case "ending":
      return [];
  }
}

function diffOf(turn: TurnState): readonly DiffEffect[] {
  const { id: turnId, changes } = turn;
  if (changes === undefined || !isDiffDue(turn)) return NO_DIFF;
  return [{ key: `diff ${turnId} ${changes.shown}`, kind: "diff", turnId, upTo: changes.ended }];
}

function lateDiff({ undiffed }: ThreadState): readonly DiffEffect[] {
  if (undiffed === undefined) return NO_DIFF;
  const { turnId, changes } = undiffed;
  return [{ key: `diff ${turnId} ended`, kind: "diff", turnId, upTo: changes.ended }];
}

const NO_DIFF: readonly DiffEffect[] = [];

type EffectsOfCall = readonly (CallEffect | ReviewEffect)[];

/**
 * The effects of each call, cached by its state: there may be thousands of calls, and every commit needs all effects.
 */
const known = new WeakMap<CallState, EffectsOfCall>();

function effectsOfCall(turnId: string, call: CallState): EffectsOfCall {
  const effects = known.get(call) ?? callEffects(turnId, call);
  known.set(call, effects);
  return effects;
}

function callEffects(turnId: string, { call, stage }: CallState): EffectsOfCall {
  const hooked = stage.kind === "proposed" && stage.hooked ? " hooked" : "";
  const effect = {
    key: `call ${turnId} ${call.callId} ${stage.kind}${hooked}`,
    kind: "call",
    turnId,
    call,
    stage,
  } as const;
  switch (stage.kind) {
    case "proposed":
    case "heard":
    case "dispatched":
      return [{ ...effect, due: null }];
    case "waiting":
      return stage.until === null ? [] : [{ ...effect, due: stage.until }];
    case "reviewing":
      return [reviewEffect(turnId, call.callId, call, stage)];
    case "asking":
    case "settled":
      return [];
  }
}

function reviewEffect(
  turnId: string,
  callId: string,
  call: ToolCall | null,
  review: RunningReview,
): ReviewEffect {
  return { key: `review ${turnId} ${review.reviewId}`, kind: "review", turnId, callId, call, review };
}

/** The key does not contain `processId`, so that a shell command that becomes a background terminal keeps its effect. */
function commandEffect(turnId: string, itemId: string, processId: string | null): CommandEffect {
  return { key: `command ${itemId}`, kind: "command", turnId, itemId, processId };
}

function networkRuleEffect(rule: DueNetworkRule): NetworkRuleEffect {
  return { key: `network rule ${rule.requestId}`, kind: "networkRule", rule };
}

function ofChild(child: Child): ChildEffect {
  const key = `child ${child.childId} ${child.task === null ? "made" : "due"}`;
  return { key, kind: "child", child };
}

function ofHelper(helper: Helper): readonly HelperEffect[] {
  const { childId, start, inputs } = helper;
  const effect = (what: HelperEffect["what"], key: string): HelperEffect => {
    return { key: `helper ${childId} ${key}`, kind: "helper", what, helper };
  };
  if (start !== null) return [effect("make", "make")];
  const [first] = inputs;
  return [effect("hear", "hear"), ...(first === undefined ? [] : [effect("send", `send ${first.id}`)])];
}

function noticesOf(state: ThreadState): readonly NoticesEffect[] {
  if (!areNoticesDue(state)) return [];
  return [{ key: `notices ${state.rap.cancels?.join(" ") ?? ""}`, kind: "notices" }];
}

function postChoice(choice: DueChoice): PostChoiceEffect {
  const { requestId, delays = 0, until: due = null } = choice;
  return { key: `choice ${requestId} ${delays}`, kind: "postChoice", choice, due };
}

function lateCalls({ rap }: ThreadState): readonly LateCallEffect[] {
  return rap.late.flatMap(({ callId, until }) =>
    until === null ? [] : [{ key: `late ${callId}`, kind: "lateCall", callId, due: until } as const],
  );
}

/** The turn that the host starts for an idle thread: for events, for the queue or for the goal. */
function nextTurn({ rap, queue, goal, settings }: ThreadState): readonly Effect[] {
  const [event] = rap.events;
  if (event !== undefined) return [{ key: `events ${event.id}`, kind: "startEvents" }];
  const [first] = queue.items;
  if (first !== undefined && !queue.paused)
    return [{ key: `queue ${first.id}`, kind: "startQueued", id: first.id }];
  if (goal?.goal.status !== "active" || goal.held || goal.deferred || isPlanning(settings)) return [];
  return [{ key: "goal", kind: "continueGoal" }];
}
