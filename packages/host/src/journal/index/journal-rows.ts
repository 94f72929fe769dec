import type { Commit } from "../../core/records.ts";
import type { Log } from "../../observe/log.ts";
import type { Journal } from "../journal.ts";
import { headOf, isStart, recall } from "../recall.ts";
import { droppedTurns, isIndexed, rowOf, textsOf } from "./row.ts";
import type { IndexedText, ThreadIndex, ThreadRow } from "./thread-index.ts";

interface RebuiltRow {
  readonly row: ThreadRow;
  readonly texts: readonly IndexedText[];
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

/** One pass from the front, because texts are everywhere; the head comes from the last checkpoint on. */
async function readRow(journal: Journal, id: string): Promise<RebuiltRow | undefined> {
  const reader = await journal.read(id);
  if (reader === undefined) return undefined;
  try {
    let sinceStart: Commit[] = [];
    const texts: IndexedText[] = [];
    const gone = new Set<string>();
    for await (const { commit } of reader.forwards()) {
      if (isStart(commit)) sinceStart = [];
      sinceStart.push(commit);
      texts.push(...textsOf(commit));
      for (const turnId of droppedTurns(commit)) gone.add(turnId);
    }
    const head = headOf(sinceStart);
    if (head === undefined || !isIndexed(head.state, head.seq)) return undefined;
    return {
      row: rowOf(head.state, head.seq, reader.place),
      texts: texts.filter(({ turnId }) => !gone.has(turnId)),
    };
  } finally {
    await reader.close();
  }
}

/** Brings the index up to what a thread's journal says; what it knows already is not read again. */
export async function catchUpIndex(index: ThreadIndex, journal: Journal, threadId: string): Promise<void> {
  const known = await index.get(threadId);
  const reader = await journal.read(threadId);
  if (reader === undefined) {
    if (known !== undefined) await index.forget(threadId);
    return;
  }
  try {
    const head = await recall(reader);
    if (head === undefined) {
      // A power cut may leave a journal with nothing in it.
      if (known !== undefined) await index.forget(threadId);
      return;
    }
    if (!isIndexed(head.state, head.seq)) return;
    const texts: IndexedText[] = [];
    const gone: string[] = [];
    for await (const { commit } of reader.forwards(await reader.locate(known?.seq ?? 0))) {
      texts.push(...textsOf(commit));
      gone.push(...droppedTurns(commit));
    }
    index.record(rowOf(head.state, head.seq, reader.place), texts, gone);
  } finally {
    await reader.close();
  }
}
