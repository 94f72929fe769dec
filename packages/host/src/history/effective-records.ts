import { definitionOf, type ThreadRecord } from "../core/records.ts";
import type { JournalReader } from "../store/journal.ts";

/** The records of one commit that no rollback has removed. */
export interface EffectiveRecords {
  /** In the order of the iteration: newest first for `effectiveBackwards`. */
  readonly records: readonly ThreadRecord[];
  readonly seq: number;
}

/**
 * A thread's effective records, newest first. A rollback (`turnsDropped`) removes everything after the turn
 * `keepThrough`. If it removed every turn, records before the first turn that stand alone (items that clients
 * injected) stay effective, and come last.
 */
export async function* effectiveBackwards(reader: JournalReader): AsyncIterable<EffectiveRecords> {
  /** While records are skipped: the turn at whose end the skipping stops; null if a rollback removed every turn. */
  let keepThrough: string | null | undefined;
  let beforeTurns: EffectiveRecords[] = [];
  for await (const { commit } of reader.backwards()) {
    const records: ThreadRecord[] = [];
    for (const record of commit.records.toReversed()) {
      if (keepThrough === null) {
        if (record.type === "turnStarted") beforeTurns = [];
        else if (record.type !== "turnsDropped" && definitionOf(record).inFork === "alone")
          beforeTurns.push({ records: [record], seq: commit.seq });
        continue;
      }
      if (keepThrough !== undefined) {
        if (record.type !== "turnEnded" || record.turnId !== keepThrough) continue;
        keepThrough = undefined;
      }
      if (record.type === "turnsDropped") keepThrough = record.keepThrough;
      else records.push(record);
    }
    yield { records, seq: commit.seq };
  }
  yield* beforeTurns;
}
