import type { ThreadItem, UserInput } from "@bobbin/protocol";
import type { ShownText } from "../decide.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { exitReview } from "./code-review-exit.ts";
import type { TurnCommand } from "./commands.ts";
import { endTurn } from "./end-turn.ts";
import { recordsOfInstantItem } from "./instant-item.ts";

type StartReview = Extract<TurnCommand, { kind: "startReview" }>;

/** Starts a turn in which the model reviews code without the conversation. Interrupts the running turn. */
export function startReview(
  state: ThreadState,
  { at, turnId, label, prompt }: StartReview,
  shown: ShownText,
): readonly ThreadRecord[] {
  const input: UserInput[] = [{ type: "text", text: prompt, text_elements: [] }];
  return [
    ...endTurn(state, at, "interrupted", shown),
    {
      type: "turnStarted",
      turnId,
      at,
      input,
      outputSchema: null,
      kind: "review",
      entered: {
        type: "enteredReviewMode",
        id: `${turnId}-entered`,
        review: label,
        startedAtMs: at,
        completedAtMs: at,
      },
    },
    ...recordsOfInstantItem(turnId, at, {
      type: "userMessage",
      id: `${turnId}-asked`,
      clientId: null,
      content: input,
      startedAtMs: at,
      completedAtMs: null,
    }),
    { type: "sampleRequested", turnId, attempt: 1 },
  ];
}

/** The result of a code review: as an item for clients that support reviews, and as a message for other clients. */
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
  return {
    records: [...exitReview(turnId, at, review), ...recordsOfInstantItem(turnId, at, answer)],
    answer,
  };
}
