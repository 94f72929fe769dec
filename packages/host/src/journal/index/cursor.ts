import type { ThreadQuery } from "./thread-index.ts";

type SortKey = ThreadQuery["sortKey"];

/** A place in a sorted list: exact, because the id tells rows of the same time apart. */
export interface Place {
  readonly sort: number;
  readonly id: string;
  /** Whether the row at that place is part of what follows. */
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

export function writeCursor(sortKey: SortKey, place: Place): string {
  const parts = [sortKey, place.sort, place.id, place.inclusive ? 1 : 0];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** A place means something only in the order that it was taken from. */
export function readCursor(sortKey: SortKey, cursor: string): Place {
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
