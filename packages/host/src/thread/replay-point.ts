import { fault } from "../errors.ts";
import type { JournalReader } from "../store/journal.ts";
import { type Cursor, parseCursor } from "./subscription.ts";

/** Where a replay of notifications starts. */
export interface ReplayPoint {
  readonly cursor?: Cursor;
  /** Whether the journal no longer contains the client's last notification. */
  readonly gap: boolean;
}

/** Where the replay starts for a client with a cursor; undefined without a cursor. */
export async function replayPoint(
  journal: JournalReader,
  text: string | null | undefined,
): Promise<ReplayPoint | undefined> {
  if (text == null) return undefined;
  const cursor = parseCursor(text);
  if (cursor === undefined) throw fault("invalidCursor", text.slice(0, 100));
  for await (const { commit } of journal.forwards({ seq: cursor.seq })) {
    return commit.seq === cursor.seq && commit.epoch === cursor.epoch
      ? { cursor, gap: false }
      : { gap: true };
  }
  return { gap: true };
}
