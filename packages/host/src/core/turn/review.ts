import type { ThreadItem, UserInput } from "@bobbin/protocol";
import type { TurnCommand } from "../commands.ts";
import type { ShownText } from "../decide.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { endTurn } from "./ending.ts";
import { exitReview, wholeItem } from "./review-items.ts";

type StartReview = Extract<TurnCommand, { kind: "startReview" }>;

/** A turn in which the model looks at work as a stranger would. Whatever runs ends for it. */
export function startReview(
  state: ThreadState,
  { at, turnId, label, prompt }: StartReview,
  shown: ShownText,
): readonly ThreadRecord[] {
  const input: UserInput[] = [{ type: "text", text: prompt, text_elements: [] }];
  const times = { startedAtMs: at, completedAtMs: null };
  return [
    ...endTurn(state, at, "interrupted", shown),
    { type: "turnStarted", turnId, at, input, outputSchema: null, kind: "review" },
    ...wholeItem(turnId, at, { type: "enteredReviewMode", id: `${turnId}-entered`, review: label, ...times }),
    ...wholeItem(turnId, at, {
      type: "userMessage",
      id: `${turnId}-asked`,
      clientId: null,
      content: input,
      ...times,
    }),
    { type: "sampleRequested", turnId, attempt: 1 },
  ];
}

/** What the reviewer found, for clients that know of reviews and for those that do not. */
export function reviewed(
  turnId: string,
  at: number,
  review: string,
): { readonly records: readonly ThreadRecord[]; readonly answer: ThreadItem } {
  const answer: ThreadItem = {
    type: "agentMessage",
    id: `${turnId}-review`,
    text: review,
    phase: null,
    memoryCitation: null,
    delivery: null,
    questions: null,
    startedAtMs: at,
    completedAtMs: at,
  };
  return { records: [...exitReview(turnId, at, review), ...wholeItem(turnId, at, answer)], answer };
}
