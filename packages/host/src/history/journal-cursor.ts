import { fault } from "../errors.ts";
import { HINT, type Hint } from "../store/journal.ts";

/** A position between records of a journal. */
export interface JournalCursor {
  readonly seq: number;
  /** Hints for finding the commit: `start` for reading forwards, `end` for reading backwards. */
  readonly start: Hint;
  readonly end: Hint;
  /** The index of the record in its commit. */
  readonly index: number;
  /** Whether a page that starts here contains this record. */
  readonly inclusive: boolean;
}

export function journalCursorText({ seq, start, end, index, inclusive }: JournalCursor): string {
  return `1.${seq}-${start}-${end}.${index}${inclusive ? "i" : ""}`;
}

const CURSOR = new RegExp(`^1\\.(\\d{1,15})-${HINT}-${HINT}\\.(\\d{1,9})(i?)$`);

export function parseJournalCursor(text: string): JournalCursor {
  const found = CURSOR.exec(text);
  if (found === null) throw fault("invalidCursor", text.slice(0, 100));
  const [, seq, start, end, index, inclusive] = found as unknown as readonly string[];
  return {
    seq: Number(seq),
    start: start!,
    end: end!,
    index: Number(index),
    inclusive: inclusive === "i",
  };
}
