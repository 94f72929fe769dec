import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { fault } from "../errors.ts";
import type { JournalReader } from "../journal/journal.ts";
import { turnsBackwards } from "./history.ts";

/** What a turn's records say of the thread that it ran in: how clients named input, what they agreed to, its goal. */
const NOT_HISTORY: ReadonlySet<ThreadRecord["type"]> = new Set([
  "inputAccepted",
  "approvalGranted",
  "submissionRemoved",
  "goalChanged",
]);

/** Which turns a fork takes: all that ended, or up to one of them. */
export interface ForkPoint {
  readonly lastTurnId?: string | null | undefined;
  readonly beforeTurnId?: string | null | undefined;
  /** It takes the goal, too, and goes on with it after its first turn. */
  readonly deferGoalContinuation?: boolean | undefined;
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
  if (point.deferGoalContinuation && state.goal !== null) {
    const { goal } = state.goal;
    yield [{ type: "goalChanged", at, turnId: null, goal, countedUntil: null, deferred: true }];
  }
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
      if (NOT_HISTORY.has(record.type)) continue;
      records.push(record);
      if (record.type === "turnEnded") return records;
    }
  }
  return records;
}
