import type { IndexedText, ThreadRow } from "../../thread-index.ts";
import type { Entry } from "./index-writes.ts";

/** Limits on one transaction, because a transaction blocks the event loop. */
export const BATCH_ROWS = 100;
export const BATCH_CHARS = 200_000;

interface Waiting {
  /** Number of the entry, in the order of arrival. */
  readonly ticket: number;
  row: ThreadRow;
  readonly texts: IndexedText[];
  readonly goneTurns: string[];
}

/** Rows that wait to be written: the newest row of each thread, with all texts since the last write. */
export class PendingRows {
  readonly #threads = new Map<string, Waiting>();
  #chars = 0;
  #lastTicket = 0;

  get size(): number {
    return this.#threads.size;
  }

  /** Length of all texts together. */
  get chars(): number {
    return this.#chars;
  }

  /** Ticket of the thread that arrived last. Threads that arrive later get higher tickets. */
  get lastTicket(): number {
    return this.#lastTicket;
  }

  /** Ticket of the thread that has waited longest. If none waits, higher than all tickets. */
  get firstTicket(): number {
    for (const { ticket } of this.#threads.values()) return ticket;
    return this.#lastTicket + 1;
  }

  add(row: ThreadRow, texts: readonly IndexedText[], goneTurns: readonly string[]): void {
    const waiting = this.#threads.get(row.id);
    if (waiting === undefined) {
      const ticket = ++this.#lastTicket;
      this.#threads.set(row.id, { ticket, row, texts: [...texts], goneTurns: [...goneTurns] });
    } else {
      if (row.seq >= waiting.row.seq) waiting.row = row;
      waiting.texts.push(...texts);
      waiting.goneTurns.push(...goneTurns);
    }
    this.#chars += charsOf(texts);
  }

  /** Returns the pending row of a thread. */
  get(threadId: string): ThreadRow | undefined {
    return this.#threads.get(threadId)?.row;
  }

  drop(threadId: string): void {
    this.#chars -= charsOf(this.#threads.get(threadId)?.texts ?? []);
    this.#threads.delete(threadId);
  }

  dropTexts(): void {
    for (const { texts } of this.#threads.values()) texts.length = 0;
    this.#chars = 0;
  }

  /** Writes one batch. The batch is removed after `write` has returned, so that a failure loses nothing. */
  writeSome(write: (entries: readonly Entry[]) => void): void {
    const entries: Waiting[] = [];
    let chars = 0;
    for (const entry of this.#threads.values()) {
      entries.push(entry);
      chars += charsOf(entry.texts);
      if (entries.length >= BATCH_ROWS || chars >= BATCH_CHARS) break;
    }
    write(entries);
    for (const { row } of entries) this.drop(row.id);
  }
}

export function charsOf(texts: readonly IndexedText[]): number {
  let chars = 0;
  for (const { text } of texts) chars += text.length;
  return chars;
}
