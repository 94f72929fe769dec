import type { Log } from "../../observe/log.ts";
import type { Journal } from "../journal.ts";
import { recall } from "../recall.ts";
import { droppedTurns, rowOf, textsOf } from "./row.ts";
import type { IndexedText, ThreadIndex, ThreadRow } from "./thread-index.ts";

/** Every thread as the index has it, from the journals: what a rebuild reads. One that can not be read is left out. */
export async function* journalRows(
  journal: Journal,
  log: Log,
): AsyncIterable<{ readonly row: ThreadRow; readonly texts: readonly IndexedText[] }> {
  for await (const { id } of journal.threads()) {
    const reader = await journal.read(id);
    if (reader === undefined) continue;
    try {
      const head = await recall(reader);
      if (head === undefined) continue;
      const texts: IndexedText[] = [];
      const gone = new Set<string>();
      for await (const { commit } of reader.forwards()) {
        texts.push(...textsOf(commit));
        for (const turnId of droppedTurns(commit)) gone.add(turnId);
      }
      yield {
        row: rowOf(head.state, head.seq, reader.place),
        texts: texts.filter(({ turnId }) => !gone.has(turnId)),
      };
    } catch (cause) {
      log.warn("a thread can not be read and is not listed", { threadId: id, cause });
    } finally {
      await reader.close();
    }
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
    if (head === undefined) return;
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
