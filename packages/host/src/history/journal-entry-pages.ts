import type { JournalEntry, Params, Result } from "@bobbin/protocol";
import type { Commit, ThreadRecord } from "../core/records.ts";
import { fault } from "../errors.ts";
import type { JournalReader, Placed } from "../store/journal.ts";
import { type JournalCursor, journalCursorText, parseJournalCursor } from "./journal-cursor.ts";
import { journalJson, recordTime, recordTurn, sentFor, textOf } from "./journal-entry-fields.ts";

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 500;
/** A page ends when its entries have this many characters of JSON and previews. */
const MAX_PAGE_CHARS = 1024 * 1024;
/** A page ends when this many characters of the records' JSON were searched. */
const MAX_SEARCHED_CHARS = 8 * 1024 * 1024;
/** A page ends after this many commits, so that a filter that matches nothing does not read a whole journal. */
const MAX_COMMITS = 2000;
const MAX_TYPES = 200;
const MAX_TERM = 1000;
const PREVIEW_CHARS = 240;

export type JournalQuery = Omit<Params<"thread/journal/read">, "threadId">;

/** The thread whose journal is read. */
export interface JournalSource {
  readonly threadId: string;
  readonly journal: Pick<JournalReader, "backwards" | "forwards">;
  /** The names of the tool servers that are sent notices about the thread. */
  readonly toolServers: readonly string[];
}

/** One page of a thread's records, newest first by default. Secrets in records are masked. */
export async function journalPage(
  source: JournalSource,
  query: JournalQuery,
): Promise<Result<"thread/journal/read">> {
  const filter = filterOf(query);
  const isForwards = query.sortDirection === "asc";
  const cursor = query.cursor == null ? undefined : parseJournalCursor(query.cursor);
  const limit = Math.min(MAX_LIMIT, Math.max(1, query.limit ?? DEFAULT_LIMIT));
  const page = new Page(source, query.includeJson === true);
  let commits = 0;
  /** The end of the last commit that was read completely, in the order of reading. */
  let done: JournalCursor | undefined;
  let next: JournalCursor | undefined;
  let newest: JournalCursor | undefined;
  for await (const placed of commitsFrom(source.journal, isForwards, cursor)) {
    if (page.isFull(limit) || commits === MAX_COMMITS) {
      next = done;
      break;
    }
    commits++;
    const { records } = placed.commit;
    const end = cursorAt(placed, records.length - 1);
    if (isForwards || newest === undefined) newest = end;
    for (const index of indexes(records.length, isForwards)) {
      if (cursor !== undefined && !reaches(cursor, placed.commit.seq, index, isForwards)) continue;
      if (page.isFull(limit)) break;
      page.take(placed, index, filter);
    }
    // If the page became full within this commit, the next page starts after the last record of this page.
    if (page.last?.seq === placed.commit.seq && !isWhole(page.last, records, isForwards)) {
      next = page.last;
      if (isForwards) newest = page.last;
      break;
    }
    done = isForwards ? end : cursorAt(placed, 0);
  }
  return {
    data: page.entries(isForwards),
    nextCursor: next === undefined ? null : journalCursorText(next),
    newestCursor: newest === undefined ? null : journalCursorText(newest),
  };
}

/** Collects the entries of a page, in the order of reading. */
class Page {
  /** The last record that was looked at, with or without an entry. */
  last: JournalCursor | undefined;
  readonly #source: JournalSource;
  readonly #includeJson: boolean;
  readonly #entries: JournalEntry[] = [];
  #chars = 0;
  #searched = 0;

  constructor(source: JournalSource, includeJson: boolean) {
    this.#source = source;
    this.#includeJson = includeJson;
  }

  isFull(limit: number): boolean {
    return (
      this.#entries.length >= limit || this.#chars >= MAX_PAGE_CHARS || this.#searched >= MAX_SEARCHED_CHARS
    );
  }

  take(placed: Placed, index: number, matches: Filter): void {
    const { commit } = placed;
    const record = commit.records[index]!;
    this.last = cursorAt(placed, index);
    if (!matches.record(record)) return;
    const json = journalJson(record);
    this.#searched += json.length;
    if (!matches.json(json)) return;
    const { threadId, toolServers } = this.#source;
    const own = this.#includeJson ? textOf(json) : { json: null, isCut: false };
    const entry: JournalEntry = {
      seq: commit.seq,
      index,
      epoch: commit.epoch,
      type: record.type,
      atMs: timeIn(commit, index),
      turnId: recordTurn(record) ?? null,
      bytes: Buffer.byteLength(json),
      preview: previewOf(json),
      cursor: journalCursorText({ ...this.last, inclusive: true }),
      sent: sentFor(threadId, record, toolServers, this.#includeJson),
      ...own,
    };
    this.#entries.push(entry);
    const sent = entry.sent.reduce((sum, one) => sum + (one.json?.length ?? 0) + one.method.length, 0);
    this.#chars += (entry.json?.length ?? 0) + entry.preview.length + sent;
  }

  /** The entries of the page. An entry without a time gets that of the last earlier entry on the page that has one. */
  entries(isForwards: boolean): JournalEntry[] {
    const order = isForwards ? this.#entries : this.#entries.toReversed();
    let atMs: number | null = null;
    const timed = order.map((entry) => {
      atMs = entry.atMs ?? atMs;
      return entry.atMs === null ? { ...entry, atMs } : entry;
    });
    return isForwards ? timed : timed.reverse();
  }
}

interface Filter {
  record(record: ThreadRecord): boolean;
  json(json: string): boolean;
}

function filterOf({ types, turnId, searchTerm }: JournalQuery): Filter {
  if (types != null && types.length > MAX_TYPES) throw fault("tooManyRecordTypes", MAX_TYPES);
  if (searchTerm != null && searchTerm.length > MAX_TERM) throw fault("searchTermTooLong", MAX_TERM);
  const wanted = types == null ? undefined : new Set(types);
  const term = searchTerm?.toLowerCase() ?? "";
  /** The search term as it occurs in JSON: with escaped quotes and line ends. */
  const escaped = JSON.stringify(term).slice(1, -1);
  return {
    record: (record) =>
      (wanted === undefined || wanted.has(record.type)) && (turnId == null || recordTurn(record) === turnId),
    json: (json) => {
      if (term === "") return true;
      const text = json.toLowerCase();
      return text.includes(term) || text.includes(escaped);
    },
  };
}

function commitsFrom(
  journal: JournalSource["journal"],
  isForwards: boolean,
  cursor: JournalCursor | undefined,
): AsyncIterable<Placed> {
  if (isForwards) return journal.forwards(cursor && { seq: cursor.seq, hint: cursor.start });
  return journal.backwards(cursor && { seq: cursor.seq, hint: cursor.end });
}

function* indexes(length: number, isForwards: boolean): Iterable<number> {
  for (let nth = 0; nth < length; nth++) yield isForwards ? nth : length - 1 - nth;
}

/** Whether a record is on the requested side of the cursor. */
function reaches(cursor: JournalCursor, seq: number, index: number, isForwards: boolean): boolean {
  const order = seq - cursor.seq || index - cursor.index;
  return order === 0 ? cursor.inclusive : order > 0 === isForwards;
}

/** Whether the record is the last of its commit in the order of reading. */
function isWhole({ index }: JournalCursor, records: readonly ThreadRecord[], isForwards: boolean): boolean {
  return index === (isForwards ? records.length - 1 : 0);
}

function cursorAt({ commit: { seq }, start, end }: Placed, index: number): JournalCursor {
  return { seq, start, end, index: Math.max(0, index), inclusive: false };
}

/** The time of a record, or of the last one before it in its commit; else of the first one after it. */
function timeIn({ records }: Commit, index: number): number | null {
  for (let at = index; at >= 0; at--) {
    const time = recordTime(records[at]!);
    if (time !== undefined) return time;
  }
  for (const record of records.slice(index + 1)) {
    const time = recordTime(record);
    if (time !== undefined) return time;
  }
  return null;
}

const COMMON_FIELDS = /^\{(?:"(?:type|turnId)":"[^"]*",?|"at":\d+,?)*/;

/** The beginning of the record's other fields: type, turn and time have fields of their own. */
function previewOf(json: string): string {
  return json
    .slice(0, 4 * PREVIEW_CHARS)
    .replace(COMMON_FIELDS, "{")
    .slice(0, PREVIEW_CHARS);
}
