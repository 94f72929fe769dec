import { createHash } from "node:crypto";
import { fault } from "../../errors.ts";
import type { OccurrencePlace } from "../../store/thread-index.ts";

const START: OccurrencePlace = { place: 0, nth: 0 };
const MAX_SHOWN = 100;

/**
 * Makes the page cursor for a position in `thread/searchOccurrences`. A cursor is valid for one thread and one search
 * term.
 */
export function occurrenceCursor(
  threadId: string,
  searchTerm: string,
  { place, nth }: OccurrencePlace,
): string {
  return `${place}.${nth}.${digestOf(threadId, searchTerm)}`;
}

/**
 * The search position of a cursor; the beginning if there is no cursor. Throws `invalidCursor` for a cursor of
 * another search.
 */
export function occurrenceAt(
  threadId: string,
  searchTerm: string,
  cursor: string | null | undefined,
): OccurrencePlace {
  if (cursor == null) return START;
  const found = /^(\d{1,15})\.(\d{1,9})\.([0-9a-f]{16})$/.exec(cursor);
  if (found === null || found[3] !== digestOf(threadId, searchTerm))
    throw fault("invalidCursor", cursor.slice(0, MAX_SHOWN));
  return { place: Number(found[1]), nth: Number(found[2]) };
}

function digestOf(threadId: string, searchTerm: string): string {
  return createHash("sha256").update(`${threadId}\n${searchTerm}`).digest("hex").slice(0, 16);
}
