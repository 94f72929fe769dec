import type { ThreadRecord } from "../core/records.ts";
import type { JournalReader } from "../journal/journal.ts";

/**
 * The records that the model's history is made of, oldest first: those of the turns that count, and what
 * clients put in between.
 */
export async function readPast(journal: JournalReader): Promise<readonly ThreadRecord[]> {
  const newestFirst: ThreadRecord[] = [];
  /** Set while everything newer than this turn is passed over. Null: every turn is. */
  let keepThrough: string | null | undefined;
  /** With every turn gone, what was put in before the first one still counts. */
  let beforeTurns: ThreadRecord[] = [];
  for await (const { commit } of journal.backwards()) {
    for (const record of commit.records.toReversed()) {
      if (keepThrough === null) {
        if (record.type === "turnStarted") beforeTurns = [];
        else if (record.type === "itemsInjected") beforeTurns.push(record);
        continue;
      }
      if (keepThrough !== undefined) {
        if (record.type !== "turnEnded" || record.turnId !== keepThrough) continue;
        keepThrough = undefined;
      }
      if (record.type === "turnsDropped") keepThrough = record.keepThrough;
      else if (matters(record)) newestFirst.push(record);
    }
  }
  return [...newestFirst, ...beforeTurns].reverse();
}

function matters({ type }: ThreadRecord): boolean {
  switch (type) {
    case "itemCompleted":
    case "toolCalled":
    case "toolAnswered":
    case "sampleRequested":
    case "turnEnded":
    case "itemsInjected":
      return true;
    default:
      return false;
  }
}
