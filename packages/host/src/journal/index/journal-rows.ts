import type { Place } from "../../core/life/views.ts";
import type { Commit } from "../../core/records.ts";
import type { Log } from "../../observe/log.ts";
import type { Journal, JournalReader } from "../journal.ts";
import { type Head, isStart, recall, wholeHead } from "../recall.ts";
import { droppedTurns, isIndexed, rowOf, textsOf } from "./row.ts";
import type { IndexedText, KnownThread, ThreadIndex, ThreadRow } from "./thread-index.ts";

interface RebuiltRow {
  readonly row: ThreadRow;
  readonly texts: readonly IndexedText[];
  /** A row that is there already may have texts of these. */
  readonly goneTurns: readonly string[];
}

/** Journals that are read beside each other: one alone would wait for the disk most of the time. */
const AT_ONCE = 16;

/** Every thread as the index has it, from the journals: what a rebuild reads. One that can not be read is left out. */
export async function* journalRows(journal: Journal, log: Log): AsyncIterable<RebuiltRow> {
  const reading: Promise<RebuiltRow | undefined>[] = [];
  for await (const { id } of journal.threads()) {
    reading.push(
      readRow(journal, id).catch((cause: unknown) => {
        log.warn("a thread can not be read and is not listed", { threadId: id, cause });
        return undefined;
      }),
    );
    if (reading.length < AT_ONCE) continue;
    const first = await reading.shift();
    if (first !== undefined) yield first;
  }
  for (const row of reading) {
    const next = await row;
    if (next !== undefined) yield next;
  }
}

async function readRow(journal: Journal, id: string): Promise<RebuiltRow | undefined> {
  const reader = await journal.read(id);
  if (reader === undefined) return undefined;
  try {
    return await wholeRow(reader);
  } finally {
    await reader.close();
  }
}

/** One pass from the front, because texts are everywhere; the head comes from the last checkpoint on. */
async function wholeRow(reader: JournalReader): Promise<RebuiltRow | undefined> {
  let sinceStart: Commit[] = [];
  const texts: IndexedText[] = [];
  const gone = new Set<string>();
  let last = 0;
  for await (const { commit } of reader.forwards()) {
    // Like `recall`: what comes again is not counted twice.
    if (commit.seq <= last) continue;
    last = commit.seq;
    if (isStart(commit)) sinceStart = [];
    sinceStart.push(commit);
    texts.push(...textsOf(commit));
    for (const turnId of droppedTurns(commit)) gone.add(turnId);
  }
  const head = await wholeHead(reader, sinceStart);
  if (head === undefined || !isIndexed(head.state, head.seq)) return undefined;
  return {
    row: rowOf(head.state, head.seq, reader.place),
    texts: texts.filter(({ turnId }) => !gone.has(turnId)),
    goneTurns: [...gone],
  };
}

/** Whether the index knows all of a thread. */
export function isCaughtUp({ state, seq }: Head, place: Place, known: KnownThread | undefined): boolean {
  if (!isIndexed(state, seq)) return known === undefined;
  return known?.seq === seq && known.archived === place.archived;
}

/** Brings the index to what a thread's journal says; what it knows already is not read again. */
export async function catchUpIndex(index: ThreadIndex, journal: Journal, threadId: string): Promise<void> {
  const known = await index.get(threadId);
  const reader = await journal.read(threadId);
  try {
    // A power cut may take a journal, or leave one with nothing in it.
    const head = reader && (await recall(reader));
    if (head === undefined || !isIndexed(head.state, head.seq)) {
      if (known !== undefined) await index.forget(threadId);
    } else if (!isCaughtUp(head, reader!.place, known)) await catchUp(index, reader!, head, known);
  } finally {
    await reader?.close();
  }
}

async function catchUp(
  index: ThreadIndex,
  reader: JournalReader,
  head: Head,
  known: ThreadRow | undefined,
): Promise<void> {
  if (known !== undefined && known.seq > head.seq) {
    // It knows of commits that a power cut took.
    const whole = await wholeRow(reader);
    return whole && index.restate(whole.row, whole.texts);
  }
  const texts: IndexedText[] = [];
  const gone: string[] = [];
  for await (const { commit } of reader.forwards(await reader.locate(known?.seq ?? 0))) {
    texts.push(...textsOf(commit));
    gone.push(...droppedTurns(commit));
  }
  index.record(rowOf(head.state, head.seq, reader.place), texts, gone);
}
