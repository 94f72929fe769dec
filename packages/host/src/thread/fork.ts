import { entryOf, type ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { fault } from "../errors.ts";
import type { JournalReader } from "../journal/journal.ts";
import { countedBackwards, countedForwards } from "./counted.ts";

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
  await mustHave(journal, point);
  const { name } = state;
  const at = state.updatedAt;
  if (name !== null) yield [{ type: "renamed", at, name }];
  yield* piecesUpTo(journal, state.mayHaveDropped, point);
  if (point.deferGoalContinuation && state.goal !== null) {
    const { goal } = state.goal;
    yield [{ type: "goalChanged", at, turnId: null, goal, countedUntil: null, deferred: true }];
  }
}

/** Throws if the turn that a fork ends with is not there, or has no end. Mostly it is one of the last. */
async function mustHave(journal: JournalReader, { lastTurnId, beforeTurnId }: ForkPoint): Promise<void> {
  const wanted = lastTurnId ?? beforeTurnId;
  if (wanted == null) return;
  for await (const { records } of countedBackwards(journal)) {
    if (records.some((record) => record.type === "turnEnded" && record.turnId === wanted)) return;
  }
  throw fault("turnNotFound", wanted);
}

/** In one pass from the front: whole turns, and what stands alone between them. */
async function* piecesUpTo(
  journal: JournalReader,
  mayHaveDropped: boolean,
  { lastTurnId, beforeTurnId }: ForkPoint,
): AsyncIterable<readonly ThreadRecord[]> {
  let turn: { readonly id: string; readonly records: ThreadRecord[] } | undefined;
  for await (const records of countedForwards(journal, mayHaveDropped)) {
    for (const record of records) {
      if (record.type === "turnStarted") {
        yield* alone(turn?.records);
        if (record.turnId === beforeTurnId) return;
        turn = { id: record.turnId, records: [] };
      }
      if (turn === undefined) yield* alone([record]);
      else if (isCopied(record, turn.id)) turn.records.push(record);
      if (turn === undefined || record.type !== "turnEnded") continue;
      yield turn.records;
      if (turn.id === lastTurnId) return;
      turn = undefined;
    }
  }
  yield* alone(turn?.records);
}

/** What is copied of a turn that has no end: it is under way. */
function* alone(records: readonly ThreadRecord[] = []): Iterable<readonly ThreadRecord[]> {
  for (const record of records) if (entryOf(record).inFork === "alone") yield [record];
}

/** Whether a fork copies a record with this turn. */
function isCopied(record: ThreadRecord, turnId: string): boolean {
  const { inFork } = entryOf(record);
  return inFork === "alone" || (inFork === "withTurn" && "turnId" in record && record.turnId === turnId);
}
