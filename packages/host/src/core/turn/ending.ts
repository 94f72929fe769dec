import type { ThreadItem, TurnError, TurnStatus } from "@bobbin/protocol";
import type { ShownText } from "../decide.ts";
import type { ThreadRecord } from "../records.ts";
import { outlivesTurn, resolve } from "../requests/resolve.ts";
import { abortReviews } from "../reviews/ended.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { findCall } from "./call-list.ts";
import { givenUp, isOutside } from "./calls.ts";
import { isCompaction } from "./own-items.ts";
import type { Cut } from "./records.ts";
import { exitReview } from "./review-items.ts";
import { withTexts } from "./texts.ts";

type Ended = Exclude<TurnStatus, "inProgress">;

/** Ends the running turn, if there is one: with all that it still asks, runs and shows. */
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
    ...turn.calls
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

/** What the model was saying completes with the text that clients saw. */
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

/** The item of a tool call has the call's name; a command may be the user's own. */
function isOfTool({ calls }: TurnState, item: ThreadItem): boolean {
  return item.type === "commandExecution" || findCall(calls, item.id) !== undefined;
}

/** Every accepted turn ends by this record, once. */
export function turnEnded(turn: TurnState, at: number, status: Ended, error: TurnError | null): ThreadRecord {
  const answer = status === "completed" ? turn.answer : null;
  return { type: "turnEnded", turnId: turn.id, startedAt: turn.startedAt, at, status, error, answer };
}

/** Goes behind the request that is made again. */
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

/** As clients know it: the count is what they show, the reason stands in the details. */
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
