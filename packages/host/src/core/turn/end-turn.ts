import type { ThreadItem, TurnError, TurnStatus } from "@bobbin/protocol";
import { abortReviews } from "../approval-reviews/review-end.ts";
import type { ShownText } from "../decide.ts";
import type { ThreadRecord } from "../records.ts";
import { outlivesTurn } from "../requests/outlives-turn.ts";
import { resolve } from "../requests/resolve-request.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { findCall } from "./call-list.ts";
import { givenUp, isOutside } from "./call-stages.ts";
import { exitReview } from "./code-review-exit.ts";
import { isCompaction } from "./item-kinds.ts";
import { withTexts } from "./item-texts.ts";
import { callsOf } from "./phase.ts";
import type { Cut } from "./records.ts";

type Ended = Exclude<TurnStatus, "inProgress">;

/** Ends the running turn, if any, together with its open requests, reviews, items and calls. */
export function endTurn(
  state: ThreadState,
  at: number,
  status: Ended,
  shown: ShownText,
  error: TurnError | null = null,
): readonly ThreadRecord[] {
  const { turn, requests } = state;
  if (turn === null) return [];
  return [
    ...requests
      .filter((request) => !outlivesTurn(state, request))
      .flatMap((request) => resolve(request, at, { kind: "cleared" })),
    ...abortReviews(state, at),
    ...closeItems(turn, at, shown, error === null ? "interrupt" : "fault"),
    ...turn.open
      .filter((item) => isOfTool(turn, item))
      .map(
        (item): ThreadRecord => ({
          type: "itemCompleted",
          turnId: turn.id,
          at,
          item: {
            ...givenUp(
              withTexts(item, (key) => shown.get(key) ?? turn.saved[key]),
              at,
            ),
            completedAtMs: at,
          },
        }),
      ),
    ...callsOf(turn)
      .filter(isOutside)
      .map(({ call: { callId } }): ThreadRecord => ({ type: "callCancelled", turnId: turn.id, at, callId })),
    ...(turn.kind === "review" ? exitReview(turn.id, at, withoutResult(status, error)) : []),
    turnEnded(turn, at, status, error),
  ];
}

function withoutResult(status: Ended, error: TurnError | null): string {
  if (error !== null) return `The review failed: ${error.message}`;
  return status === "interrupted" ? "The review was interrupted before it came to a result." : "";
}

/** Completes the open items of the model with the text that clients have seen. */
export function closeItems(
  turn: TurnState,
  at: number,
  shown: ShownText,
  cut?: Cut,
): readonly ThreadRecord[] {
  return turn.open
    .filter((item) => !isOfTool(turn, item) && !isCompaction(item))
    .map((open) => {
      const item = withTexts(open, (key) => shown.get(key) ?? turn.saved[key]);
      return {
        type: "itemCompleted",
        turnId: turn.id,
        at,
        item: { ...item, completedAtMs: at },
        ...(cut && { cut }),
      };
    });
}

/** Whether an item belongs to a tool call (same ID), or is a command. */
function isOfTool(turn: TurnState, item: ThreadItem): boolean {
  return item.type === "commandExecution" || findCall(callsOf(turn), item.id) !== undefined;
}

/** The record of a turn's end. Every accepted turn gets exactly one. */
export function turnEnded(turn: TurnState, at: number, status: Ended, error: TurnError | null): ThreadRecord {
  const answer = status === "completed" ? turn.answer : null;
  const { id: turnId, startedAt, rootTurnId } = turn;
  const root = rootTurnId === undefined ? {} : { rootTurnId };
  return { type: "turnEnded", turnId, startedAt, at, status, error, answer, ...root };
}

/** The record of a retry. It comes after the new `sampleRequested` or `compactionRequested` record. */
export function retrying(
  turn: TurnState,
  at: number,
  error: TurnError,
  retry: { readonly of: number; readonly afterMs: number },
): ThreadRecord {
  return {
    type: "retrying",
    turnId: turn.id,
    at,
    until: at + retry.afterMs,
    retry: turn.retries + 1,
    of: retry.of,
    error: reconnecting(error, turn.retries + 1, retry.of),
  };
}

/**
 * The error of a retry, in the format that clients expect: they show the number of the retry. The details contain the
 * reason.
 */
function reconnecting(error: TurnError, retry: number, of: number): TurnError {
  const { codexErrorInfo: info } = error;
  const status = typeof info === "object" && info !== null ? Object.values(info)[0]?.httpStatusCode : null;
  return {
    message: `Reconnecting... ${retry}/${of}`,
    codexErrorInfo: { responseStreamDisconnected: { httpStatusCode: status ?? null } },
    additionalDetails: error.message,
    misalignment: null,
  };
}

export function requestSample({ id, attempt }: TurnState): ThreadRecord {
  return { type: "sampleRequested", turnId: id, attempt: attempt + 1 };
}
