import type { Commit } from "../../core/records.ts";
import type { Files } from "../../platform/platform.ts";
import { encodeCommit } from "./commit-format.ts";

/** Number of bytes per write. */
const BATCH_BYTES = 256 * 1024;

/**
 * Writes all commits to a temporary file, fsyncs it, and renames it to the journal's path. Returns false if the
 * thread is not wanted after all. A temporary file that a crash left is overwritten by the next draft with the same
 * name.
 */
export async function writeDraft(
  files: Pick<Files, "openAppend" | "remove">,
  draft: string,
  commits: AsyncIterable<Commit>,
  { isWanted, place }: { isWanted(): boolean; place(): Promise<void> },
): Promise<boolean> {
  await files.remove(draft);
  const file = await files.openAppend(draft, { fresh: true });
  try {
    try {
      let waiting: Buffer[] = [];
      let bytes = 0;
      for await (const commit of commits) {
        const line = encodeCommit(commit);
        waiting.push(line);
        bytes += line.length;
        if (bytes < BATCH_BYTES) continue;
        await file.append(Buffer.concat(waiting));
        waiting = [];
        bytes = 0;
      }
      if (waiting.length > 0) await file.append(Buffer.concat(waiting));
      if (isWanted()) await file.sync();
    } finally {
      await file.close();
    }
    if (isWanted()) {
      await place();
      return true;
    }
  } catch (cause) {
    await files.remove(draft).catch(() => {});
    throw cause;
  }
  await files.remove(draft);
  return false;
}
