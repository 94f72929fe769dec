import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";

/** An input with an ID from its sender, which a turn has taken. */
export interface AcceptedInput {
  /** The sender's ID of the input. */
  readonly id: string;
  readonly turnId: string;
}

/** Limit on remembered inputs. A sender that did not get the reply repeats its input soon. */
const REMEMBERED = 64;

/** The turn that has taken this input; undefined if it is new. */
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
