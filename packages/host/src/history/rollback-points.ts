import { fault } from "../errors.ts";
import type { JournalReader } from "../store/journal.ts";
import { type StoredTurn, turnsBackwards } from "./stored-turns.ts";

/** Where a rollback cuts a thread: the turns that it drops at the end, and the last turn that it keeps. */
export interface DropPoint {
  readonly keepThrough: string | null;
  /** Newest first. */
  readonly dropped: readonly string[];
  readonly lastTurnId: string | null;
  readonly kept: StoredTurn | undefined;
}

/** The rollback of the last `count` turns. */
export function dropLast(journal: JournalReader, count: number): Promise<DropPoint> {
  let left = count;
  return dropPoint(journal, () => left-- > 0);
}

/** The rollback of a turn and all later ones. */
export async function dropFrom(journal: JournalReader, turnId: string): Promise<DropPoint> {
  let found = false;
  const point = await dropPoint(journal, (id) => {
    if (found) return false;
    found = id === turnId;
    return true;
  });
  if (!found) throw fault("turnNotFound", turnId);
  return point;
}

/** Reads turns backwards. Drops turns as long as `isDropped` returns true. */
async function dropPoint(journal: JournalReader, isDropped: (turnId: string) => boolean): Promise<DropPoint> {
  const dropped: string[] = [];
  let lastKept: StoredTurn | undefined;
  for await (const stored of turnsBackwards(journal)) {
    if (isDropped(stored.turn.id)) {
      dropped.push(stored.turn.id);
      continue;
    }
    lastKept = stored;
    break;
  }
  return {
    keepThrough: lastKept?.turn.id ?? null,
    dropped,
    lastTurnId: dropped[0] ?? lastKept?.turn.id ?? null,
    kept: lastKept,
  };
}
