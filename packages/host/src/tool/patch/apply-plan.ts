import { createHash } from "node:crypto";
import type { WorkspaceFiles } from "../../platform/platform.ts";
import type { FileWrite } from "./plan-patch.ts";

/** Limit on the bytes of a file that is patched. */
export const MAX_FILE_BYTES = 32 * 1024 * 1024;

/**
 * A file of a plan in the journal. `before` and `after` are digests of its content, null for no file. After a crash
 * they show whether the file was written.
 */
export interface PlannedFile {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

export function plannedFiles(writes: readonly FileWrite[]): readonly PlannedFile[] {
  return writes.map(({ path, before, after }) => ({
    path,
    before: digestOf(before),
    after: digestOf(after),
  }));
}

export function digestOf(content: string | null): string | null {
  return content === null ? null : createHash("sha256").update(content, "latin1").digest("hex");
}

/** The outcome of applying a plan. */
export type PatchOutcome =
  | { readonly kind: "done" }
  /** `changed`: files that have the new content because they could not be restored. */
  | { readonly kind: "failed"; readonly why: string; readonly changed: readonly string[] };

/** A write that can be undone. */
interface DoneWrite {
  readonly write: FileWrite;
  /** The file's mode before; undefined if there was no file. */
  readonly mode: number | undefined;
  /** The topmost folder that was created for the file. */
  readonly madeFolder: string | undefined;
}

/**
 * Writes the files of a plan. All new content is written before any file is removed. So each file has its old or its
 * new content at any time, and another host can finish the plan after a crash. If a write fails, the files written
 * before are restored, and the folders that were created for them are removed.
 */
export async function applyPlan(
  writes: readonly FileWrite[],
  workspace: WorkspaceFiles,
  isAllowed: (realPath: string) => boolean,
): Promise<PatchOutcome> {
  const done: DoneWrite[] = [];
  const ordered = [...writes].sort((one, other) => Number(one.after === null) - Number(other.after === null));
  for (const write of ordered) {
    try {
      const mode = await modeOf(workspace, write.path);
      // Moved files are removed last, so that the mode of the source can be read here.
      const moved = write.movedFrom === undefined ? undefined : await modeOf(workspace, write.movedFrom);
      if (write.after === null) {
        await workspace.remove(write.path, { isAllowed });
        done.push({ write, mode, madeFolder: undefined });
      } else {
        const options = { mode: moved ?? mode, isAllowed };
        const madeFolder = await workspace.replace(write.path, bytesOf(write.after), options);
        done.push({ write, mode, madeFolder });
      }
    } catch (cause) {
      const changed = await undo(done, workspace, isAllowed);
      return { kind: "failed", why: `${write.path}: ${(cause as Error).message}`, changed };
    }
  }
  return { kind: "done" };
}

async function modeOf(workspace: WorkspaceFiles, path: string): Promise<number | undefined> {
  return (await workspace.read(path, MAX_FILE_BYTES))?.mode;
}

function bytesOf(content: string): Uint8Array {
  return Buffer.from(content, "latin1");
}

async function undo(
  done: readonly DoneWrite[],
  workspace: WorkspaceFiles,
  isAllowed: (realPath: string) => boolean,
): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const { write, mode, madeFolder } of [...done].reverse()) {
    const { path, before } = write;
    try {
      if (before === null) await workspace.remove(path, { madeFolder, isAllowed });
      else await workspace.replace(path, bytesOf(before), { mode, isAllowed });
    } catch {
      changed.push(path);
    }
  }
  return changed;
}
