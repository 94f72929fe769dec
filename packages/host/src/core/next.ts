import type { Child } from "./children/records.ts";
import type { DueChoice } from "./rap/records.ts";
import type { DueNetworkRule } from "./requests/records.ts";
import type { RunningReview } from "./reviews/records.ts";
import type { ThreadState, TurnState } from "./state.ts";
import { isShell } from "./terminals/decide.ts";
import type { CallStage, CallState } from "./turn/calls.ts";
import { isDiffDue } from "./turn/changes.ts";
import type { Compacting, ToolCall } from "./turn/records.ts";

/** Work that the state asks for. The key names it: an effect with a key that already runs is left alone. */
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
  | DiffEffect
  | CommandEffect
  | NetworkRuleEffect;

export interface SampleEffect {
  readonly key: string;
  readonly kind: "sample";
  readonly turnId: string;
  readonly attempt: number;
  /** Not before this time; null: now. */
  readonly due: number | null;
}

/** The model is asked for a summary of what it would be shown. */
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
  /** When a tool that is waited for has had its time; null: the tool has something to do now. */
  readonly due: number | null;
}

/** A model judges an approval in place of a person. */
export interface ReviewEffect {
  readonly key: string;
  readonly kind: "review";
  readonly turnId: string;
  readonly callId: string;
  /** Null if the review is beside the call, which goes on. */
  readonly call: ToolCall | null;
  readonly review: RunningReview;
}

/** A call that the model does not wait for has a time that it must not take longer than. */
export interface LateCallEffect {
  readonly key: string;
  readonly kind: "lateCall";
  readonly callId: string;
  readonly due: number;
}

/** A child is to be made, or was made and may be over. */
export interface ChildEffect {
  readonly key: string;
  readonly kind: "child";
  readonly child: Child;
}

/** A command runs that no call waits for: a background terminal, or one of the user's own. */
export interface CommandEffect {
  readonly key: string;
  readonly kind: "command";
  readonly turnId: string;
  readonly itemId: string;
  /** Of a background terminal. */
  readonly processId: string | null;
}

/** The rules file gets what was decided about a host. */
export interface NetworkRuleEffect {
  readonly key: string;
  readonly kind: "networkRule";
  readonly rule: DueNetworkRule;
}

/** Whoever asked the user hears what was chosen. */
export interface PostChoiceEffect {
  readonly key: string;
  readonly kind: "postChoice";
  readonly choice: DueChoice;
  /** Not before this time; null: now. */
  readonly due: number | null;
}

/** What came from tool servers begins a turn. */
export interface StartEventsEffect {
  readonly key: string;
  readonly kind: "startEvents";
}

/** Clients are shown what the turn has changed in files. */
export interface DiffEffect {
  readonly key: string;
  readonly kind: "diff";
  readonly turnId: string;
  /** After so many calls that may have changed some. */
  readonly upTo: number;
}

/** Input that waited begins its turn. */
export interface StartQueuedEffect {
  readonly key: string;
  readonly kind: "startQueued";
  readonly id: string;
}

/** The thread goes on with its goal. */
export interface ContinueGoalEffect {
  readonly key: string;
  readonly kind: "continueGoal";
}

/**
 * What should be under way now. The runner starts what is missing and stops what is no longer named, so that
 * live running, waking and restarting all go the same way.
 */
export function next(state: ThreadState): readonly Effect[] {
  if (state.status.type === "notLoaded") return [];
  const { late, choices } = state.rap;
  const { terminals, children, networkRules } = state;
  const { asideReviews = [] } = state;
  const others = [late, choices, children, terminals, networkRules, asideReviews];
  if (others.every(({ length }) => length === 0)) return nextOfTurn(state);
  return [
    ...nextOfTurn(state),
    ...networkRules.map(networkRuleEffect),
    ...asideReviews.map((review) => reviewEffect(review.turnId, review.callId, null, review)),
    ...terminals.map(({ turnId, item, processId }) => commandEffect(turnId, item.id, processId)),
    ...lateCalls(state),
    ...choices.map(postChoice),
    ...children.map(ofChild),
  ];
}

function nextOfTurn(state: ThreadState): readonly Effect[] {
  if (state.turn === null) return [...lateDiff(state), ...nextTurn(state)];
  const { id: turnId, attempt, sampled, retryAt, calls, compacting, open } = state.turn;
  const diff = diffOf(state.turn);
  if (compacting !== null) {
    const key = `compact ${turnId} ${attempt}`;
    return [...diff, { key, kind: "compact", turnId, attempt, due: retryAt, compacting }];
  }
  const sample: Effect = {
    key: `sample ${turnId} ${attempt}`,
    kind: "sample",
    turnId,
    attempt,
    due: retryAt,
  };
  return [
    ...diff,
    ...(sampled ? [] : [sample]),
    ...calls.flatMap((one) => effectsOfCall(turnId, one)),
    ...open.filter(isShell).map(({ id }) => commandEffect(turnId, id, null)),
  ];
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

/** A call that is as far as before has the same effect: there may be thousands, and each commit asks for all. */
type EffectsOfCall = readonly (CallEffect | ReviewEffect)[];

const known = new WeakMap<CallState, EffectsOfCall>();

function effectsOfCall(turnId: string, call: CallState): EffectsOfCall {
  const effects = known.get(call) ?? callEffects(turnId, call);
  known.set(call, effects);
  return effects;
}

function callEffects(turnId: string, { call, stage }: CallState): EffectsOfCall {
  const effect = {
    key: `call ${turnId} ${call.callId} ${stage.kind}`,
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

/** The same for a command of the user that becomes a background terminal: it goes on. */
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

function postChoice(choice: DueChoice): PostChoiceEffect {
  const { requestId, delays = 0, until: due = null } = choice;
  return { key: `choice ${requestId} ${delays}`, kind: "postChoice", choice, due };
}

function lateCalls({ rap }: ThreadState): readonly LateCallEffect[] {
  return rap.late.flatMap(({ callId, until }) =>
    until === null ? [] : [{ key: `late ${callId}`, kind: "lateCall", callId, due: until } as const],
  );
}

/** What an idle thread begins by itself. */
function nextTurn({ rap, queue, goal }: ThreadState): readonly Effect[] {
  const [event] = rap.events;
  if (event !== undefined) return [{ key: `events ${event.id}`, kind: "startEvents" }];
  const [first] = queue.items;
  if (first !== undefined && !queue.paused)
    return [{ key: `queue ${first.id}`, kind: "startQueued", id: first.id }];
  if (goal?.goal.status !== "active" || goal.held || goal.deferred) return [];
  return [{ key: "goal", kind: "continueGoal" }];
}
