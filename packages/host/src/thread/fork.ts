import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { fault } from "../errors.ts";
import type { JournalReader } from "../journal/journal.ts";
import { turnsBackwards } from "./history.ts";

/** Which turns a fork takes: all that ended, or up to one of them. */
export interface ForkPoint {
  readonly lastTurnId?: string | null | undefined;
  readonly beforeTurnId?: string | null | undefined;
}

/**
 * A thread's history as the records of another one, a turn at a time: what the turns said, never what was under
 * way. Ids of turns and items stay what they are.
 */
export async function* forkHistory(
  journal: JournalReader,
  state: ThreadState,
  point: ForkPoint,
): AsyncIterable<readonly ThreadRecord[]> {
  const starts = await turnStarts(journal, point);
  const { name } = state;
  const at = state.updatedAt;
  if (name !== null) yield [{ type: "renamed", at, name }];
  for (const start of starts) yield await turnRecords(journal, start);
}

/** Where the turns are, oldest first. */
async function turnStarts(
  journal: JournalReader,
  { lastTurnId, beforeTurnId }: ForkPoint,
): Promise<number[]> {
  const starts: number[] = [];
  const wanted = lastTurnId ?? beforeTurnId;
  let found = wanted == null;
  for await (const { turn, start } of turnsBackwards(journal)) {
    if (turn.status === "inProgress") continue;
    if (!found && turn.id === wanted) {
      found = true;
      if (lastTurnId == null) continue;
    }
    if (found) starts.push(start);
  }
  if (!found) throw fault("turnNotFound", wanted!);
  return starts.reverse();
}

/** The records of the turn that starts at a place. */
async function turnRecords(journal: JournalReader, start: number): Promise<readonly ThreadRecord[]> {
  const records: ThreadRecord[] = [];
  let turnId: string | undefined;
  for await (const { commit } of journal.forwards(start)) {
    for (const record of commit.records) {
      if (record.type === "turnStarted" && turnId === undefined) turnId = record.turnId;
      if (turnId === undefined || !("turnId" in record) || record.turnId !== turnId) continue;
      // What clients called their input, and what they agreed to, was said to the other thread.
      if (record.type === "inputAccepted" || record.type === "approvalGranted") continue;
      records.push(record);
      if (record.type === "turnEnded") return records;
    }
  }
  return records;
}
