import type { ThreadUnreadPosition } from "@bobbin/protocol";
import { type Fault, fault, readStateConflict } from "../../errors.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { isAnswer } from "../turn/item-kinds.ts";
import type { ReadStateCommand } from "./commands.ts";
import { hasReadState, readStateOf } from "./read-state-view.ts";
import type { ReadState } from "./records.ts";

/** Marks a thread as read or unread. The revision must be the one that the client has seen last. */
export function decideReadState(
  state: ThreadState,
  { at, expectedRevision, operation }: ReadStateCommand,
): readonly ThreadRecord[] | Fault {
  const now = readStateOf(state);
  if (now === null) return fault("noReadState");
  if (now.revision !== expectedRevision) return readStateConflict(now);
  return [changed(state.readState, at, operation === "read" ? null : { type: "threadStart" })];
}

/**
 * Adds changes of the read state to other records. A turn with a result becomes the first unread turn if none is
 * unread. If the first unread turn is rolled back, nothing is unread any more.
 */
export function withReadState(state: ThreadState, records: readonly ThreadRecord[]): readonly ThreadRecord[] {
  if (!hasReadState(state) || !records.some(mayChange)) return records;
  const out: ThreadRecord[] = [];
  let now = state.readState;
  for (const record of records) {
    const firstUnread = firstUnreadAfter(now?.firstUnread ?? null, record);
    if (firstUnread !== undefined) {
      const change = changed(now, (record as { readonly at: number }).at, firstUnread);
      out.push(change);
      now = change;
    }
    out.push(record);
  }
  return out;
}

function mayChange({ type }: ThreadRecord): boolean {
  return type === "turnEnded" || type === "turnsDropped";
}

/** The first unread position after a record; undefined if it does not change. */
function firstUnreadAfter(
  now: ThreadUnreadPosition | null,
  record: ThreadRecord,
): ThreadUnreadPosition | null | undefined {
  switch (record.type) {
    case "turnEnded":
      return hasResult(record) ? (now ?? { type: "turn", turnId: record.turnId }) : undefined;
    case "turnsDropped":
      return now?.type === "turn" && record.dropped.includes(now.turnId) ? null : undefined;
    default:
      return undefined;
  }
}

/** Whether a turn ended with something to read: an answer or a failure. */
function hasResult({ status, answer }: Extract<ThreadRecord, { type: "turnEnded" }>): boolean {
  if (status === "failed") return true;
  return status === "completed" && answer?.type === "agentMessage" && isAnswer(answer) && answer.text !== "";
}

function changed(
  before: ReadState | undefined,
  at: number,
  firstUnread: ThreadUnreadPosition | null,
): Extract<ThreadRecord, { type: "readStateChanged" }> {
  return { type: "readStateChanged", at, change: (before?.change ?? 0) + 1, firstUnread };
}
