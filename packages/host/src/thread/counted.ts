import { entryOf, type ThreadRecord } from "../core/records.ts";
import type { JournalReader } from "../journal/journal.ts";

/** The records of one commit that count. */
export interface Counted {
  /** In the order of the reading. */
  readonly records: readonly ThreadRecord[];
  readonly seq: number;
  readonly start: number;
  readonly end: number;
}

/**
 * A thread's records from the tail back, without what a rollback took: everything behind the turn that it kept. With
 * every turn gone, what clients put in before the first one still counts, and comes last.
 */
export async function* countedBackwards(reader: JournalReader, before?: number): AsyncIterable<Counted> {
  /** Set while everything newer than this turn is passed over. Null: every turn is. */
  let keepThrough: string | null | undefined;
  let beforeTurns: Counted[] = [];
  for await (const { commit, start, end } of reader.backwards(before)) {
    const records: ThreadRecord[] = [];
    for (const record of commit.records.toReversed()) {
      if (keepThrough === null) {
        if (record.type === "turnStarted") beforeTurns = [];
        else if (entryOf(record).inFork === "alone")
          beforeTurns.push({ records: [record], seq: commit.seq, start, end });
        continue;
      }
      if (keepThrough !== undefined) {
        if (record.type !== "turnEnded" || record.turnId !== keepThrough) continue;
        keepThrough = undefined;
      }
      if (record.type === "turnsDropped") keepThrough = record.keepThrough;
      else records.push(record);
    }
    yield { records, seq: commit.seq, start, end };
  }
  yield* beforeTurns;
}

/**
 * The same from the front. What is read later may drop what is read now, so where that happens is found out first, unless
 * it never does (`mayHaveDropped` of the thread's state).
 */
export async function* countedForwards(
  reader: JournalReader,
  mayHaveDropped: boolean,
): AsyncIterable<readonly ThreadRecord[]> {
  const drops = mayHaveDropped ? await lastDrops(reader) : NO_DROPS;
  /** Set while everything up to this drop is passed over. */
  let passing: Drop | undefined;
  let isFirstTurn = true;
  for await (const { commit, start } of reader.forwards()) {
    const counted: ThreadRecord[] = [];
    for (const [nth, record] of commit.records.entries()) {
      const ahead = (kept: string | null): Drop | undefined => {
        const drop = drops.get(kept);
        return drop !== undefined && (drop.start - start || drop.nth - nth) > 0 ? drop : undefined;
      };
      if (record.type === "turnStarted" && isFirstTurn) {
        isFirstTurn = false;
        passing = ahead(null);
      }
      if (passing === undefined && record.type !== "turnsDropped") counted.push(record);
      if (passing === undefined && record.type === "turnEnded") passing = ahead(record.turnId);
      if (passing?.start === start && passing.nth === nth) passing = undefined;
    }
    yield counted;
  }
}

/** Where a record is that drops turns. */
interface Drop {
  readonly start: number;
  readonly nth: number;
}

const NO_DROPS: ReadonlyMap<string | null, Drop> = new Map();

/** For each turn that a drop kept, the last such drop: everything between the two is gone. Null: from the first turn on. */
async function lastDrops(reader: JournalReader): Promise<ReadonlyMap<string | null, Drop>> {
  const drops = new Map<string | null, Drop>();
  for await (const { commit, start } of reader.naming("turnsDropped" satisfies ThreadRecord["type"])) {
    for (const [nth, record] of commit.records.entries()) {
      if (record.type === "turnsDropped") drops.set(record.keepThrough, { start, nth });
    }
  }
  return drops;
}
