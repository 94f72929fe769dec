import type { ThreadFilesRestoreResponse } from "@bobbin/protocol";
import type { ThreadRecord } from "../../core/records.ts";
import { fault } from "../../errors.ts";
import type { JournalReader } from "../../journal/journal.ts";
import type { Actor } from "../../thread/actor.ts";
import type { HandlerContext } from "./context.ts";

/** Restores files to what they were before a turn. Nothing else happens in the thread meanwhile. */
export async function restoreBefore(
  { turnFiles, reachLookup }: HandlerContext,
  actor: Actor,
  turnId: string,
  force: boolean,
): Promise<ThreadFilesRestoreResponse> {
  const reach = reachLookup.of(actor.owner);
  const mayWrite = (path: string): Promise<boolean> =>
    reach.checkPath("runtimeWorkspaceRoots", path).then(
      () => reach.hasFiles,
      () => false,
    );
  let response: ThreadFilesRestoreResponse | undefined;
  await actor.during(async (state) => {
    if (state.turn !== null) throw fault("turnInProgress", state.turn.id);
    const records = await recordsFrom(actor.journal, turnId);
    const { signal } = new AbortController();
    const { restored, removed, failed } = await turnFiles.restore(
      state,
      actor.journal,
      records,
      { force, mayWrite },
      signal,
    );
    response = { restored: [...restored], removed: [...removed], failed: [...failed] };
  });
  return response!;
}

/** What says how files were changed from a turn on, oldest first. Turns that were dropped have changed files, too. */
async function recordsFrom(journal: JournalReader, turnId: string): Promise<readonly ThreadRecord[]> {
  const commits: (readonly ThreadRecord[])[] = [];
  for await (const { commit } of journal.backwards()) {
    const { records } = commit;
    commits.push(records.filter(isAboutFiles));
    const start = records.findIndex((record) => record.type === "turnStarted" && record.turnId === turnId);
    if (start < 0) continue;
    // What comes before it in its commit is of the turn before.
    commits[commits.length - 1] = records.slice(start).filter(isAboutFiles);
    return commits.reverse().flat();
  }
  throw fault("turnNotFound", turnId);
}

function isAboutFiles({ type }: ThreadRecord): boolean {
  return type === "turnStarted" || type === "toolDispatched" || type === "turnDiffed";
}
