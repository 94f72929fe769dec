import type { Commit, ThreadRecord } from "../../core/records.ts";
import { effectiveBackwards } from "../../history/effective-records.ts";
import type { JournalReader } from "../../store/journal.ts";

/** Limit on the size of all cached histories, estimated in bytes. */
const CACHE_BYTES = 4 * 1024 * 1024;
/** The estimated size of an object without its texts. */
const OBJECT_BYTES = 64;

/** Records after which a cached history is invalid or useless. The history is dropped, and read again when needed. */
const ENDS_HISTORY: ReadonlySet<ThreadRecord["type"]> = new Set(["turnsDropped", "compacted", "closed"]);

interface CachedHistory {
  readonly records: ThreadRecord[];
  /** The last commit that the records include. */
  seq: number;
  bytes: number;
}

/**
 * The records that model calls are built from, per thread: from the last compaction on, oldest first, without
 * rolled-back turns. Recently used histories are cached and extended by `add`, so that most turns do not read the
 * journal.
 */
export class ModelHistories {
  /** The least recently used first. */
  readonly #cache = new Map<JournalReader, CachedHistory>();
  #bytes = 0;

  /** The history up to at least commit `seq`, which must be in the journal. */
  async read(journal: JournalReader, seq: number): Promise<readonly ThreadRecord[]> {
    const known = this.#cache.get(journal);
    const history = known !== undefined && known.seq >= seq ? known : await readAll(journal);
    this.#store(journal, history);
    // A copy, because `add` may extend the cached array while the caller uses it.
    return [...history.records];
  }

  /** Extends the cached history by a new commit. */
  add(journal: JournalReader, { seq, prev, records }: Commit): void {
    const history = this.#cache.get(journal);
    if (history === undefined || seq <= history.seq) return;
    if (prev !== history.seq || records.some(({ type }) => ENDS_HISTORY.has(type))) {
      return this.#forget(journal);
    }
    history.seq = seq;
    const more = records.filter(isForModel).map(lean);
    history.records.push(...more);
    const bytes = weight(more);
    history.bytes += bytes;
    this.#bytes += bytes;
  }

  #store(journal: JournalReader, history: CachedHistory): void {
    this.#forget(journal);
    // Caching a very long history would evict all others.
    if (history.bytes > CACHE_BYTES / 2) return;
    this.#cache.set(journal, history);
    this.#bytes += history.bytes;
    for (const [oldest] of this.#cache) {
      if (this.#bytes <= CACHE_BYTES) break;
      this.#forget(oldest);
    }
  }

  #forget(journal: JournalReader): void {
    this.#bytes -= this.#cache.get(journal)?.bytes ?? 0;
    this.#cache.delete(journal);
  }
}

async function readAll(journal: JournalReader): Promise<CachedHistory> {
  let last: number | undefined;
  const newestFirst: ThreadRecord[] = [];
  let compaction: Compaction | undefined;
  reading: for await (const { records, seq } of effectiveBackwards(journal)) {
    last ??= seq;
    for (const record of records) {
      if (compaction?.coversBefore(record)) break reading;
      else if (record.type === "compacted" && compaction === undefined) compaction = new Compaction(record);
      else if (isForModel(record)) newestFirst.push(lean(record));
    }
  }
  // The compaction replaces the covered records, so it comes first. Records that it does not cover come after it.
  if (compaction !== undefined) newestFirst.push(compaction.record);
  const records = newestFirst.reverse();
  return { records, seq: last ?? 0, bytes: weight(records) };
}

type Compacted = Extract<ThreadRecord, { type: "compacted" }>;

/** Finds the records that a compaction covers, while records are read newest first. */
class Compaction {
  readonly record: Compacted;
  #fromTurnOn = false;

  constructor(record: Compacted) {
    this.record = record;
  }

  /** Whether the compaction covers everything before this record. Must be called for every record, newest first. */
  coversBefore(record: ThreadRecord): boolean {
    const { turnId, attempt } = this.record;
    if (record.type === "compactionRequested" && record.turnId === turnId && record.attempt === attempt) {
      this.#fromTurnOn = record.covers === "past";
      return !this.#fromTurnOn;
    }
    return this.#fromTurnOn && record.type === "turnStarted" && record.turnId === turnId;
  }
}

/** The record without fields that the model's history does not need. */
function lean(record: ThreadRecord): ThreadRecord {
  if (record.type === "hooksEnded") return { ...record, runs: [] };
  return record.type === "turnEnded" ? { ...record, answer: null } : record;
}

/** An estimate of the memory that a value takes, in bytes. */
function weight(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let sum = OBJECT_BYTES;
  for (const key in value) sum += weight((value as Record<string, unknown>)[key]);
  return sum;
}

/** Whether the model's history needs records of this type. */
function isForModel({ type }: ThreadRecord): boolean {
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
    case "hooksEnded":
      return true;
    default:
      return false;
  }
}
