import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";

export interface AcceptedInput {
  /** The client's own name for it. */
  readonly id: string;
  readonly turnId: string;
}

/** Whoever sends the same again does so soon: it did not hear the answer. */
const REMEMBERED = 64;

/** The turn that took this input, if it was taken before. */
export function acceptedTurn({ accepted }: ThreadState, id: string | null): string | undefined {
  return id === null ? undefined : accepted.findLast((input) => input.id === id)?.turnId;
}

export function inputAccepted(turnId: string, messageId: string | null): readonly ThreadRecord[] {
  return messageId === null ? [] : [{ type: "inputAccepted", turnId, messageId }];
}

export function withAccepted(
  accepted: readonly AcceptedInput[],
  input: AcceptedInput,
): readonly AcceptedInput[] {
  return [...accepted, input].slice(-REMEMBERED);
}
