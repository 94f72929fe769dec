import { entryOf, type ThreadRecord } from "../core/records.ts";
import type { JournalReader } from "../journal/journal.ts";

/** The records of one commit that count. */
export interface Counted {
  /** Newest first. */
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
