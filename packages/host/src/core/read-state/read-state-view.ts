import type { ThreadReadState } from "@bobbin/protocol";
import type { ThreadState } from "../state.ts";
import type { ReadState } from "./records.ts";

/** The read state for clients; null for threads that have none. */
export function readStateOf(state: ThreadState): ThreadReadState | null {
  return hasReadState(state) ? readStateView(state.facts.id, state.readState) : null;
}

/** Whether a thread has a read state. Ephemeral threads and child threads have none. */
export function hasReadState({ facts }: ThreadState): boolean {
  return !facts.ephemeral && facts.parentThreadId === null;
}

/** `changed`: the last change; undefined if there was none. */
export function readStateView(threadId: string, changed: ReadState | undefined): ThreadReadState {
  if (changed === undefined) return { firstUnread: null, revision: `initial:${threadId}` };
  const { change, at, firstUnread } = changed;
  return { firstUnread, revision: `${change}.${at}` };
}
