import type { ThreadQuery } from "./thread-index.ts";

type SortKey = ThreadQuery["sortKey"];

/** A position in a sorted list. It is unique, because rows with the same sort value have different IDs. */
export interface ListPosition {
  readonly sort: number;
  readonly id: string;
  /** Whether the page includes the row at this position. */
  readonly inclusive: boolean;
}

export class BadCursor extends Error {
  readonly cursor: string;

  constructor(cursor: string) {
    super(`invalid cursor: ${cursor}`);
    this.name = "BadCursor";
    this.cursor = cursor;
  }
}

export function writeCursor(sortKey: SortKey, position: ListPosition): string {
  const parts = [sortKey, position.sort, position.id, position.inclusive ? 1 : 0];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** Parses a cursor. Throws `BadCursor` if it was created for another sort key. */
export function readCursor(sortKey: SortKey, cursor: string): ListPosition {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch {
    throw new BadCursor(cursor);
  }
  if (!Array.isArray(parts) || parts.length !== 4) throw new BadCursor(cursor);
  const [key, sort, id, inclusive] = parts as unknown[];
  if (key !== sortKey || typeof sort !== "number" || typeof id !== "string") throw new BadCursor(cursor);
  if (inclusive !== 0 && inclusive !== 1) throw new BadCursor(cursor);
  return { sort, id, inclusive: inclusive === 1 };
}
