import type { Commit, ThreadRecord } from "../core/records.ts";
import type { JournalReader } from "../journal/journal.ts";
import { countedBackwards } from "../thread/counted.ts";

/** How much of pasts is kept in all, about in bytes. */
const KEPT_BYTES = 4 * 1024 * 1024;
/** What an object takes besides its texts, about. */
const OBJECT_BYTES = 64;

/** What follows is another past than what came before, and more: it is read anew if anyone needs it. */
const ENDS_PAST: ReadonlySet<ThreadRecord["type"]> = new Set(["turnsDropped", "compacted", "closed"]);

interface Past {
  readonly records: ThreadRecord[];
  /** The last commit that is in it. */
  seq: number;
  bytes: number;
}

/**
 * The records that the model's history is made of, oldest first: those of the turns that count, and what
 * clients put in between, from the last compaction on. What was used last is kept and grows with its thread, so that most turns read nothing.
 */
export class Pasts {
  /** The longest unused first. */
  readonly #kept = new Map<JournalReader, Past>();
  #bytes = 0;

  /** Up to the commit `seq` at least, which is in the journal. */
  async read(journal: JournalReader, seq: number): Promise<readonly ThreadRecord[]> {
    const known = this.#kept.get(journal);
    const past = known !== undefined && known.seq >= seq ? known : await readAll(journal);
    this.#keep(journal, past);
    // A copy: it may grow while the caller is at work with it.
    return [...past.records];
  }

  /** The thread has a commit more. */
  add(journal: JournalReader, { seq, prev, records }: Commit): void {
    const past = this.#kept.get(journal);
    if (past === undefined || seq <= past.seq) return;
    if (prev !== past.seq || records.some(({ type }) => ENDS_PAST.has(type))) {
      return this.#forget(journal);
    }
    past.seq = seq;
    const more = records.filter(matters).map(lean);
    past.records.push(...more);
    const bytes = weight(more);
    past.bytes += bytes;
    this.#bytes += bytes;
  }

  #keep(journal: JournalReader, past: Past): void {
    this.#forget(journal);
    // One that is so long would take the place of all others.
    if (past.bytes > KEPT_BYTES / 2) return;
    this.#kept.set(journal, past);
    this.#bytes += past.bytes;
    for (const [oldest] of this.#kept) {
      if (this.#bytes <= KEPT_BYTES) break;
      this.#forget(oldest);
    }
  }

  #forget(journal: JournalReader): void {
    this.#bytes -= this.#kept.get(journal)?.bytes ?? 0;
    this.#kept.delete(journal);
  }
}

async function readAll(journal: JournalReader): Promise<Past> {
  let last: number | undefined;
  const newestFirst: ThreadRecord[] = [];
  let compaction: Compaction | undefined;
  reading: for await (const { records, seq } of countedBackwards(journal)) {
    last ??= seq;
    for (const record of records) {
      if (compaction?.begins(record)) break reading;
      else if (record.type === "compacted" && compaction === undefined) compaction = new Compaction(record);
      else if (matters(record)) newestFirst.push(lean(record));
    }
  }
  // What has come while it was made stands behind it in the journal, too.
  if (compaction !== undefined) newestFirst.push(compaction.record);
  const records = newestFirst.reverse();
  return { records, seq: last ?? 0, bytes: weight(records) };
}

type Compacted = Extract<ThreadRecord, { type: "compacted" }>;

/** Finds where it begins what a compaction covers, which is not part of the past any more. */
class Compaction {
  readonly record: Compacted;
  #fromTurnOn = false;

  constructor(record: Compacted) {
    this.record = record;
  }

  /** Asked of older and older records. */
  begins(record: ThreadRecord): boolean {
    const { turnId, attempt } = this.record;
    if (record.type === "compactionRequested" && record.turnId === turnId && record.attempt === attempt) {
      this.#fromTurnOn = record.covers === "past";
      return !this.#fromTurnOn;
    }
    return this.#fromTurnOn && record.type === "turnStarted" && record.turnId === turnId;
  }
}

/** Without what is in another record, too. */
function lean(record: ThreadRecord): ThreadRecord {
  return record.type === "turnEnded" ? { ...record, answer: null } : record;
}

function weight(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let sum = OBJECT_BYTES;
  for (const key in value) sum += weight((value as Record<string, unknown>)[key]);
  return sum;
}

function matters({ type }: ThreadRecord): boolean {
  switch (type) {
    case "itemCompleted":
    case "toolCalled":
    case "toolAnswered":
    case "sampleRequested":
    case "turnEnded":
    case "itemsInjected":
    case "goalContext":
    case "contextGiven":
    case "eventInjected":
    case "callNoted":
    case "terminalEnded":
    case "compactionRequested":
      return true;
    default:
      return false;
  }
}
