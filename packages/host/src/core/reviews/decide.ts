import type { ThreadItem } from "@bobbin/protocol";
import type { TurnCommand } from "../commands.ts";
import type { ShownText } from "../decide.ts";
import { fold } from "../fold.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { findCall } from "../turn/call-list.ts";
import { type CallStep, givenUp } from "../turn/calls.ts";
import { endTurn } from "../turn/ending.ts";
import type { ToolCall } from "../turn/records.ts";
import { reviewedBy } from "./action.ts";
import { isDenial, tooManyDenials } from "./denials.ts";
import { reviewEnded } from "./ended.ts";
import { wordsOf } from "./verdict.ts";

type AskStep = Extract<CallStep, { kind: "ask" }>;

/** The start of a review that takes the place of a question; undefined if a person is asked. */
export function startReview(
  state: ThreadState,
  call: ToolCall,
  { ask, item, question, reviewId }: AskStep,
  { at, turnId }: { readonly at: number; readonly turnId: string },
): ThreadRecord | undefined {
  const { approvalsReviewer, approvalPolicy } = state.settings;
  // People who trust nothing want to see it themselves.
  if (approvalsReviewer !== "auto_review" || approvalPolicy === "untrusted") return undefined;
  const reviewed = reviewedBy(state, call, ask, item);
  if (reviewed === undefined) return undefined;
  const named = question === undefined ? {} : { question };
  return { type: "reviewStarted", turnId, at, callId: call.callId, reviewId, ...reviewed, ask, ...named };
}

/** Takes a reviewer's verdict; nothing if its call no longer waits for it. */
export function endReview(
  state: ThreadState,
  turn: TurnState,
  { at, callId, reviewId, review, usage }: Extract<TurnCommand, { kind: "reviewed" }>,
  shown: ShownText,
): readonly ThreadRecord[] {
  const stage = findCall(turn.calls, callId)?.stage;
  if (stage?.kind !== "reviewing" || stage.reviewId !== reviewId) return [];
  const ended = reviewEnded(turn.id, at, callId, stage, review, usage);
  const after = fold(state, ended);
  const denied = isDenial(review) ? tooManyDenials(after.turn?.reviews ?? []) : undefined;
  if (denied === undefined) return [ended];
  // The model would go on to ask for what it does not get.
  const output = `It was not done: ${wordsOf(review)}`;
  const settled: readonly ThreadRecord[] = [
    ended,
    ...turn.open
      .filter(({ id }) => id === callId)
      .map(
        (item): ThreadRecord => ({ type: "itemCompleted", turnId: turn.id, at, item: declined(item, at) }),
      ),
    { type: "toolAnswered", turnId: turn.id, at, callId, output, success: false },
    { type: "reviewsExhausted", turnId: turn.id, at, ...denied },
  ];
  return [...settled, ...endTurn(settled.reduce(fold, state), at, "interrupted", shown)];
}

function declined(item: ThreadItem, at: number): ThreadItem {
  const ended = { ...givenUp(item, at), completedAtMs: at };
  return ended.type === "commandExecution" || ended.type === "fileChange"
    ? { ...ended, status: "declined" }
    : ended;
}
