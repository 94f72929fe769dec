import type { GuardianApprovalReviewAction, ThreadItem } from "@bobbin/protocol";
import { type Fault, fault } from "../../errors.ts";
import type { ReviewCommand } from "../commands.ts";
import type { ShownText } from "../decide.ts";
import { fold } from "../fold.ts";
import { injected } from "../life/injected.ts";
import type { ThreadRecord } from "../records.ts";
import type { Ask } from "../requests/records.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { findCall } from "../turn/call-list.ts";
import { type CallStep, givenUp } from "../turn/calls.ts";
import { endTurn } from "../turn/ending.ts";
import type { ToolCall } from "../turn/records.ts";
import { reviewedBy } from "./action.ts";
import { isDenial, tooManyDenials } from "./denials.ts";
import { reviewEnded } from "./ended.ts";
import type { Denial, Verdict } from "./records.ts";
import { wordsOf } from "./verdict.ts";

type AskStep = Extract<CallStep, { kind: "ask" }>;

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

/** A review that takes the place of a question; undefined if a person is asked. */
export function startReview(
  state: ThreadState,
  call: ToolCall,
  { ask, item, question, reviewId, fingerprint }: AskStep,
  { at, turnId }: { readonly at: number; readonly turnId: string },
): readonly ThreadRecord[] | undefined {
  if (!isReviewed(state)) return undefined;
  const reviewed = reviewedBy(state, call, ask, item);
  if (reviewed === undefined) return undefined;
  const { callId } = call;
  const review = { reviewId, ...reviewed, ask, fingerprint, ...(question !== undefined && { question }) };
  const started = { type: "reviewStarted", turnId, at, callId, ...review } as const;
  if (!isApprovedDenial(state, fingerprint)) return [started];
  return [started, reviewEnded(turnId, at, callId, { ...review, startedAt: at }, APPROVED_BY_USER, null)];
}

function isReviewed({ settings, turn }: ThreadState): boolean {
  if (turn?.strictReview) return true;
  // People who trust nothing want to see it themselves.
  return settings.approvalsReviewer === "auto_review" && settings.approvalPolicy !== "untrusted";
}

const APPROVED_BY_USER: Verdict = {
  status: "approved",
  riskLevel: "high",
  userAuthorization: "high",
  rationale: "The user approved exactly this after it had been denied.",
};

function isApprovedDenial({ denials = [] }: ThreadState, fingerprint: string): boolean {
  return denials.some((denial) => denial.approved && denial.fingerprint === fingerprint);
}

/** The model is told, so that it can try again. */
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

/** Takes a reviewer's verdict; nothing if its call no longer waits for it. */
function endReview(
  state: ThreadState,
  turn: TurnState,
  { at, callId, reviewId, review, usage }: Extract<ReviewCommand, { kind: "reviewed" }>,
  shown: ShownText,
): readonly ThreadRecord[] {
  const stage = findCall(turn.calls, callId)?.stage;
  const ofCall = stage?.kind === "reviewing" && stage.reviewId === reviewId ? stage : undefined;
  const running = ofCall ?? state.asideReviews?.find((one) => one.reviewId === reviewId);
  if (running === undefined) return [];
  const ended = reviewEnded(turn.id, at, callId, running, review, usage);
  const after = fold(state, ended);
  const denied = isDenial(review) ? tooManyDenials(after.turn?.reviews ?? []) : undefined;
  if (denied === undefined) return [ended];
  // The model would go on to ask for what it does not get.
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

/** The records, and the end of the turn after them. */
function ends(
  state: ThreadState,
  records: readonly ThreadRecord[],
  at: number,
  shown: ShownText,
): readonly ThreadRecord[] {
  return [...records, ...endTurn(records.reduce(fold, state), at, "interrupted", shown)];
}

/** A review in place of a question about a host; undefined if a person is asked. */
export function startAsideReview(
  state: ThreadState,
  ask: Ask,
  action: Extract<GuardianApprovalReviewAction, { type: "networkAccess" }>,
  by: {
    readonly at: number;
    readonly turnId: string;
    readonly callId: string;
    readonly reviewId: string;
    readonly requestId: number;
  },
): readonly ThreadRecord[] | undefined {
  if (!isReviewed(state)) return undefined;
  const { at, turnId, callId, reviewId, requestId } = by;
  const fingerprint = `network ${action.target}`;
  const review = { reviewId, targetItemId: null, action, ask, fingerprint, requestId };
  const started = { type: "reviewStarted", turnId, at, callId, ...review } as const;
  if (!isApprovedDenial(state, fingerprint)) return [started];
  return [started, reviewEnded(turnId, at, callId, { ...review, startedAt: at }, APPROVED_BY_USER, null)];
}

function declined(item: ThreadItem, at: number): ThreadItem {
  return item.type === "commandExecution" || item.type === "fileChange"
    ? { ...item, status: "declined", completedAtMs: at }
    : { ...givenUp(item, at), completedAtMs: at };
}
