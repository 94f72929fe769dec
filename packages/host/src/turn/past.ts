import type { ThreadRecord } from "../core/records.ts";
import type { JournalReader } from "../journal/journal.ts";

/** How many pasts are kept for the next call of a model, and how long a journal may be for that. */
const KEPT = 32;
const KEPT_BYTES = 1024 * 1024;

interface Past {
  readonly records: readonly ThreadRecord[];
  /** Where the journal ended; undefined if it was empty. */
  readonly end: number | undefined;
}

/**
 * The records that the model's history is made of, oldest first: those of the turns that count, and what
 * clients put in between. What was read last is kept for a while, so that a turn in a long thread, or one of many
 * calls, reads only what is new.
 */
export class Pasts {
  /** The longest unused first. */
  readonly #kept = new Map<JournalReader, Past>();

  async read(journal: JournalReader): Promise<readonly ThreadRecord[]> {
    const known = this.#kept.get(journal);
    this.#kept.delete(journal);
    const past = (known && (await readOn(journal, known))) ?? (await readAll(journal));
    if ((past.end ?? 0) <= KEPT_BYTES) this.#kept.set(journal, past);
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= KEPT) break;
      this.#kept.delete(oldest);
    }
    return past.records;
  }
}

/** Undefined if what was known no longer counts. */
async function readOn(journal: JournalReader, known: Past): Promise<Past | undefined> {
  if (known.end === undefined) return undefined;
  const records = [...known.records];
  let last = known.end;
  for await (const { commit, end } of journal.forwards(known.end)) {
    if (commit.records.some(({ type }) => type === "turnsDropped")) return undefined;
    records.push(...commit.records.filter(matters));
    last = end;
  }
  return { records, end: last };
}

async function readAll(journal: JournalReader): Promise<Past> {
  let last: number | undefined;
  const newestFirst: ThreadRecord[] = [];
  /** Set while everything newer than this turn is passed over. Null: every turn is. */
  let keepThrough: string | null | undefined;
  /** With every turn gone, what was put in before the first one still counts. */
  let beforeTurns: ThreadRecord[] = [];
  for await (const { commit, end } of journal.backwards()) {
    last ??= end;
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
  return { records: [...newestFirst, ...beforeTurns].reverse(), end: last };
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
