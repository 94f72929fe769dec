import { definitionOf, type ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { fault } from "../errors.ts";
import type { JournalReader } from "../store/journal.ts";

/** The turns that a fork copies: all that have ended, or those up to `lastTurnId` or before `beforeTurnId`. */
export interface ForkPoint {
  readonly lastTurnId?: string | null | undefined;
  readonly beforeTurnId?: string | null | undefined;
  /** Whether the goal is copied, too. The fork continues the goal after its own first turn. */
  readonly deferGoalContinuation?: boolean | undefined;
}

/**
 * The records that a fork of a thread starts with, one turn at a time: its name, the turns that have ended, and items
 * that clients injected between turns. A running turn is not copied. Turns and items keep their IDs.
 */
export async function* forkHistory(
  journal: JournalReader,
  state: ThreadState,
  point: ForkPoint,
): AsyncIterable<readonly ThreadRecord[]> {
  const { name } = state;
  const at = state.updatedAt;
  if (name !== null) yield [{ type: "renamed", at, name }];
  yield* piecesUpTo(journal, state.mayHaveDropped, point);
  if (point.deferGoalContinuation && state.goal !== null) {
    const { goal } = state.goal;
    yield [{ type: "goalChanged", at, turnId: null, goal, countedUntil: null, deferred: true }];
  }
}

/**
 * Reads the journal once, oldest first: whole turns, and the records between turns that are copied alone. Turns that
 * were rolled back are copied with their rollback, which may come much later. Throws `turnNotFound` if the turn of the
 * fork point is missing, has not ended or was rolled back.
 */
async function* piecesUpTo(
  journal: JournalReader,
  mayHaveDropped: boolean,
  { lastTurnId, beforeTurnId }: ForkPoint,
): AsyncIterable<readonly ThreadRecord[]> {
  const wanted = lastTurnId ?? beforeTurnId ?? null;
  let turn: { readonly id: string; readonly records: ThreadRecord[] } | undefined;
  /** Whether the fork point was passed. Nothing more is copied. */
  let isBehind = false;
  /** Whether the turn of the fork point has ended. */
  let isFound = wanted === null;
  for await (const { commit } of journal.forwards()) {
    for (const record of commit.records) {
      if (isBehind) {
        isFound ||= record.type === "turnEnded" && record.turnId === wanted;
        if (record.type === "turnsDropped" && record.dropped.includes(wanted!))
          throw fault("turnNotFound", wanted!);
        continue;
      }
      if (record.type === "turnStarted") {
        yield* alone(turn?.records);
        isBehind = record.turnId === beforeTurnId;
        turn = { id: record.turnId, records: [] };
      }
      if (turn === undefined) yield* alone([record]);
      else if (isCopied(record, turn.id)) turn.records.push(record);
      if (turn === undefined || record.type !== "turnEnded") continue;
      yield turn.records;
      if (turn.id === lastTurnId) isBehind = isFound = true;
      turn = undefined;
    }
    if (isBehind && isFound && !mayHaveDropped) return;
  }
  if (!isFound) throw fault("turnNotFound", wanted!);
  if (!isBehind) yield* alone(turn?.records);
}

/** The records that are copied without their turn, for example from a turn that has not ended. */
function* alone(records: readonly ThreadRecord[] = []): Iterable<readonly ThreadRecord[]> {
  for (const record of records) if (definitionOf(record).inFork === "alone") yield [record];
}

/** Whether a fork copies a record as part of this turn. */
function isCopied(record: ThreadRecord, turnId: string): boolean {
  const { inFork } = definitionOf(record);
  return inFork === "alone" || (inFork === "withTurn" && "turnId" in record && record.turnId === turnId);
}
