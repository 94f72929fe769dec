// Records that several steps of a tool call have in common.
import type { ThreadItem } from "@bobbin/protocol";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState, TurnState } from "../state.ts";
import type { CallStep } from "./call-stages.ts";

/** Shows clients the item of a call, unless they see it already. */
export function started(
  { id: turnId, open }: TurnState,
  at: number,
  item: ThreadItem | undefined,
): readonly ThreadRecord[] {
  if (item === undefined || open.some(({ id }) => id === item.id)) return [];
  return [{ type: "itemStarted", turnId, at, item: { ...item, completedAtMs: null } }];
}

/** Records the grant that a user gave with an answer. */
export function granted(turnId: string, at: number, key: string | undefined): readonly ThreadRecord[] {
  return key === undefined ? [] : [{ type: "approvalGranted", turnId, key, grantedAt: at }];
}

/** Shows clients what a call writes to a background terminal. */
export function terminalInput(
  { terminals }: ThreadState,
  turnId: string,
  at: number,
  input: Extract<CallStep, { kind: "dispatch" }>["input"],
): readonly ThreadRecord[] {
  const terminal = terminals.find(({ processId }) => processId === input?.processId);
  if (input === undefined || terminal === undefined) return [];
  return [{ type: "terminalInput", turnId, at, itemId: terminal.item.id, ...input }];
}
