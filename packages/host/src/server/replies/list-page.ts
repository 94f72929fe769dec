import { fault } from "../../errors.ts";

/** One page of a list in memory. The cursor is the index of the next entry. */
export function page<T>(
  all: readonly T[],
  cursor: string | null | undefined,
  limit: number | null | undefined,
): { data: T[]; nextCursor: string | null } {
  const start = cursor == null ? 0 : Number(cursor);
  if (!Number.isSafeInteger(start) || start < 0 || start > all.length)
    throw fault("invalidCursor", cursor ?? "");
  const end = start + Math.max(1, limit ?? all.length);
  return { data: all.slice(start, end), nextCursor: end < all.length ? String(end) : null };
}
