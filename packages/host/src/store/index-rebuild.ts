import type { JournalLocation } from "../core/life/thread-view.ts";
import type { Commit } from "../core/records.ts";
import type { Log } from "../observe/log.ts";
import { droppedTurns, isIndexed, rowOf, textsOf } from "./index-updates.ts";
import type { Journal, JournalReader } from "./journal.ts";
import { type Head, isStart, readHead, wholeHead } from "./thread-head.ts";
import type { IndexedText, KnownThread, ThreadIndex, ThreadRow } from "./thread-index.ts";

interface RebuiltRow {
  readonly row: ThreadRow;
  readonly texts: readonly IndexedText[];
  /** Rolled-back turns. The existing row may still contain their texts. */
  readonly goneTurns: readonly string[];
}

/** The number of journals that are read at a time. A read mostly waits for the disk. */
const AT_ONCE = 16;

/** The index rows of all threads, built from their journals. Threads that cannot be read are left out, with a warning. */
export async function* rebuildRows(journal: Journal, log: Log): AsyncIterable<RebuiltRow> {
  const reading: Promise<RebuiltRow | undefined>[] = [];
  for await (const { id } of journal.threads()) {
    reading.push(
      readRow(journal, id).catch((cause: unknown) => {
        log.warn("a thread cannot be read and is not listed", { threadId: id, cause });
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

/**
 * Reads a whole journal forwards, because its texts may be anywhere. The state is folded from the last checkpoint on.
 */
async function wholeRow(reader: JournalReader): Promise<RebuiltRow | undefined> {
  let sinceStart: Commit[] = [];
  const texts: IndexedText[] = [];
  const gone = new Set<string>();
  let last = 0;
  for await (const { commit } of reader.forwards()) {
    // As in `readHead`, repeated commits are ignored.
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

/** Whether the index contains all commits of a thread. */
export function isCaughtUp(
  { state, seq }: Head,
  place: JournalLocation,
  known: KnownThread | undefined,
): boolean {
  if (!isIndexed(state, seq)) return known === undefined;
  return known?.seq === seq && known.archived === place.archived;
}

/** Adds the commits of a thread's journal to the index that the index lacks. */
export async function catchUpIndex(index: ThreadIndex, journal: Journal, threadId: string): Promise<void> {
  const known = await index.get(threadId);
  const reader = await journal.read(threadId);
  try {
    // After a power cut the journal may be missing or empty.
    const head = reader && (await readHead(reader));
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
    // The index contains commits that a power cut removed from the journal.
    const whole = await wholeRow(reader);
    return whole && index.restate(whole.row, whole.texts);
  }
  const texts: IndexedText[] = [];
  const gone: string[] = [];
  for await (const { commit } of reader.forwards({ seq: (known?.seq ?? 0) + 1 })) {
    texts.push(...textsOf(commit));
    gone.push(...droppedTurns(commit));
  }
  index.record(rowOf(head.state, head.seq, reader.place), texts, gone);
}
