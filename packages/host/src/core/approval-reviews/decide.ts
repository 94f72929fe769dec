import type { ThreadItem } from "@bobbin/protocol";
import { type Fault, fault } from "../../errors.ts";
import type { ShownText } from "../decide.ts";
import { fold } from "../fold.ts";
import { injected } from "../life/inject-items.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { findCall } from "../turn/call-list.ts";
import { givenUp } from "../turn/call-stages.ts";
import { endTurn } from "../turn/end-turn.ts";
import { callsOf } from "../turn/phase.ts";
import type { ReviewCommand } from "./commands.ts";
import { isDenial, tooManyDenials } from "./denial-limit.ts";
import type { Denial } from "./records.ts";
import { reviewEnded } from "./review-end.ts";
import { wordsOf } from "./verdict-outcome.ts";

/** Decides commands about reviews of approvals by a model. */
export function decideReviews(
  state: ThreadState,
  command: ReviewCommand,
  shown: ShownText,
): readonly ThreadRecord[] | Fault {
  switch (command.kind) {
    case "reviewed":
      return state.turn?.id === command.turnId ? endReview(state, state.turn, command, shown) : [];
    case "approveDenied":
      return approveDenied(state, command);
  }
}

/** Approves an action that the reviewer denied. A message informs the model, so that it can try again. */
function approveDenied(
  state: ThreadState,
  { at, reviewId }: Extract<ReviewCommand, { kind: "approveDenied" }>,
): readonly ThreadRecord[] | Fault {
  const denial = state.denials?.find((one) => one.reviewId === reviewId);
  if (denial === undefined) return fault("unknownDenial", reviewId);
  if (denial.approved) return [];
  return [{ type: "denialApproved", at, reviewId }, injected(state, at, [approvalMessage(denial)])];
}

function approvalMessage({ action }: Denial): object {
  const text = `The user has approved an action that the automatic reviewer denied. You may do exactly this, once, if it is still needed. It approves nothing else.\n${JSON.stringify(action)}`;
  return { type: "message", role: "developer", content: [{ type: "input_text", text }] };
}

/** Records a reviewer's verdict. Has no effect if the call no longer waits for a verdict. */
function endReview(
  state: ThreadState,
  turn: TurnState,
  { at, callId, reviewId, review, usage }: Extract<ReviewCommand, { kind: "reviewed" }>,
  shown: ShownText,
): readonly ThreadRecord[] {
  const stage = findCall(callsOf(turn), callId)?.stage;
  const ofCall = stage?.kind === "reviewing" && stage.reviewId === reviewId ? stage : undefined;
  const running = ofCall ?? state.asideReviews?.find((one) => one.reviewId === reviewId);
  if (running === undefined) return [];
  const ended = reviewEnded(turn.id, at, callId, running, review, usage);
  const after = fold(state, ended);
  const denied = isDenial(review) ? tooManyDenials(after.turn?.reviews ?? []) : undefined;
  if (denied === undefined) return [ended];
  // After too many denials the turn ends, because the model would only ask again.
  const exhausted = { type: "reviewsExhausted", turnId: turn.id, at, ...denied } as const;
  if (ofCall === undefined) return ends(state, [ended, exhausted], at, shown);
  const output = `It was not done: ${wordsOf(review)}`;
  const settled: readonly ThreadRecord[] = [
    ended,
    ...turn.open
      .filter(({ id }) => id === callId)
      .map(
        (item): ThreadRecord => ({ type: "itemCompleted", turnId: turn.id, at, item: declined(item, at) }),
      ),
    { type: "toolAnswered", turnId: turn.id, at, callId, output, success: false },
    exhausted,
  ];
  return ends(state, settled, at, shown);
}

/** Appends the records of the turn's end to the given records. */
function ends(
  state: ThreadState,
  records: readonly ThreadRecord[],
  at: number,
  shown: ShownText,
): readonly ThreadRecord[] {
  return [...records, ...endTurn(records.reduce(fold, state), at, "interrupted", shown)];
}

function declined(item: ThreadItem, at: number): ThreadItem {
  return item.type === "commandExecution" || item.type === "fileChange"
    ? { ...item, status: "declined", completedAtMs: at }
    : { ...givenUp(item, at), completedAtMs: at };
}
