import { entryOf, type ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { fault } from "../errors.ts";
import type { JournalReader } from "../journal/journal.ts";
import { countedBackwards } from "./counted.ts";

/** Which turns a fork takes: all that ended, or up to one of them. */
export interface ForkPoint {
  readonly lastTurnId?: string | null | undefined;
  readonly beforeTurnId?: string | null | undefined;
  /** It takes the goal, too, and goes on with it after its first turn. */
  readonly deferGoalContinuation?: boolean | undefined;
}

/**
 * A thread's history as the records of another one, a turn at a time: what the turns said, never what was under
 * way, and what clients put in between. Ids of turns and items stay what they are.
 */
export async function* forkHistory(
  journal: JournalReader,
  state: ThreadState,
  point: ForkPoint,
): AsyncIterable<readonly ThreadRecord[]> {
  const pieces = await piecesOf(journal, point);
  const { name } = state;
  const at = state.updatedAt;
  if (name !== null) yield [{ type: "renamed", at, name }];
  for (const piece of pieces) {
    yield piece.kind === "turn" ? await turnRecords(journal, piece.start) : [piece.record];
  }
  if (point.deferGoalContinuation && state.goal !== null) {
    const { goal } = state.goal;
    yield [{ type: "goalChanged", at, turnId: null, goal, countedUntil: null, deferred: true }];
  }
}

/** What a history is made of. */
type Piece =
  | { readonly kind: "turn"; readonly start: number }
  | { readonly kind: "alone"; readonly record: ThreadRecord };

/** Oldest first. */
async function piecesOf(
  journal: JournalReader,
  { lastTurnId, beforeTurnId }: ForkPoint,
): Promise<readonly Piece[]> {
  const wanted = lastTurnId ?? beforeTurnId;
  let found = wanted == null;
  /** The turn that is passed through, from its end to its start; what has no end is under way. */
  let ended: string | undefined;
  const pieces: Piece[] = [];
  for await (const { records, start } of countedBackwards(journal)) {
    for (const record of records) {
      if (record.type === "turnEnded") {
        ended = record.turnId;
        found ||= ended === lastTurnId;
      } else if (record.type === "turnStarted" && ended === record.turnId) {
        if (found) pieces.push({ kind: "turn", start });
        found ||= ended === beforeTurnId;
        ended = undefined;
      } else if (found && ended === undefined && entryOf(record).inFork === "alone") {
        pieces.push({ kind: "alone", record });
      }
    }
  }
  if (!found) throw fault("turnNotFound", wanted!);
  return pieces.reverse();
}

/** The records of the turn that starts at a place, and what clients put in while it ran. */
async function turnRecords(journal: JournalReader, start: number): Promise<readonly ThreadRecord[]> {
  const records: ThreadRecord[] = [];
  let turnId: string | undefined;
  for await (const { commit } of journal.forwards(start)) {
    for (const record of commit.records) {
      if (record.type === "turnStarted" && turnId === undefined) turnId = record.turnId;
      if (turnId === undefined || !isCopied(record, turnId)) continue;
      records.push(record);
      if (record.type === "turnEnded") return records;
    }
  }
  return records;
}

/** Whether a fork copies a record with this turn. */
function isCopied(record: ThreadRecord, turnId: string): boolean {
  const { inFork } = entryOf(record);
  return inFork === "alone" || (inFork === "withTurn" && "turnId" in record && record.turnId === turnId);
}
