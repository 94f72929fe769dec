import type { ThreadFilesRestoreResponse } from "@bobbin/protocol";
import { fault } from "../errors.ts";
import { fileRecordsFrom } from "../history/file-change-records.ts";
import type { Actor } from "../thread/actor.ts";
import type { HandlerContext } from "./handler-context.ts";

/**
 * Restores files to their content before a turn, or replies with what that would do (`dryRun`). The thread's mailbox is
 * blocked meanwhile.
 */
export async function undoTurnFileChanges(
  { turnFiles, reachLookup }: HandlerContext,
  actor: Actor,
  turnId: string,
  how: { readonly force: boolean; readonly dryRun: boolean },
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
    const records = await fileRecordsFrom(actor.journal, turnId);
    const { signal } = new AbortController();
    const { restored, removed, failed } = await turnFiles.restore(
      state,
      actor.journal,
      records,
      { ...how, mayWrite },
      signal,
    );
    response = { restored: [...restored], removed: [...removed], failed: [...failed] };
  });
  return response!;
}
