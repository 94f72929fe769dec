import type { ThreadRecord } from "../core/records.ts";
import { fault } from "../errors.ts";
import type { JournalReader } from "../store/journal.ts";

/**
 * The records about file changes, from a turn on, oldest first. Includes rolled-back turns, because their file
 * changes were not undone.
 */
export async function fileRecordsFrom(
  journal: Pick<JournalReader, "backwards">,
  turnId: string,
): Promise<readonly ThreadRecord[]> {
  const commits: (readonly ThreadRecord[])[] = [];
  for await (const { commit } of journal.backwards()) {
    const { records } = commit;
    commits.push(records.filter(isAboutFiles));
    const start = records.findIndex((record) => record.type === "turnStarted" && record.turnId === turnId);
    if (start < 0) continue;
    // In the commit that starts the turn, the records before the start belong to the previous turn.
    commits[commits.length - 1] = records.slice(start).filter(isAboutFiles);
    return commits.reverse().flat();
  }
  throw fault("turnNotFound", turnId);
}

function isAboutFiles({ type }: ThreadRecord): boolean {
  return type === "turnStarted" || type === "toolDispatched" || type === "turnDiffed";
}
