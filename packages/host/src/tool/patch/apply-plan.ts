import { createHash } from "node:crypto";
import type { FolderIdentity, WorkspaceFiles } from "../../platform/platform.ts";
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

export function digestOf(content: string | null | undefined): string | null {
  return content == null ? null : createHash("sha256").update(content, "latin1").digest("hex");
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
      const { path, ...bounds } = targetOf(write, isAllowed);
      const now = await workspace.read(path, MAX_FILE_BYTES, bounds.from);
      if (write.place !== undefined && digestOf(now && textOf(now.bytes)) !== digestOf(write.before))
        throw new Error("it was changed by someone else in the meantime");
      // Moved files are removed last, so that the mode of the source can be read here.
      const moved = writes.find((one) => one.path === write.movedFrom);
      const mode = moved === undefined ? undefined : await modeOf(workspace, targetOf(moved, isAllowed));
      if (write.after === null) {
        await workspace.remove(path, bounds);
        done.push({ write, mode: now?.mode, madeFolder: undefined });
      } else {
        const options = { mode: mode ?? now?.mode, ...bounds };
        const madeFolder = await workspace.replace(path, bytesOf(write.after), options);
        done.push({ write, mode: now?.mode, madeFolder });
      }
    } catch (cause) {
      const changed = await undo(done, workspace, isAllowed);
      return { kind: "failed", why: `${write.path}: ${(cause as Error).message}`, changed };
    }
  }
  return { kind: "done" };
}

/** The path of a write, and the limits within which it may take place. */
interface Target {
  readonly path: string;
  readonly from: FolderIdentity | undefined;
  isAllowed(realPath: string): boolean;
}

function targetOf({ path, place }: FileWrite, isAllowed: (realPath: string) => boolean): Target {
  if (place === undefined) return { path, from: undefined, isAllowed };
  return {
    path: place.path,
    from: place.folder,
    isAllowed: (real) => real === place.path && isAllowed(real),
  };
}

async function modeOf(workspace: WorkspaceFiles, { path, from }: Target): Promise<number | undefined> {
  return (await workspace.read(path, MAX_FILE_BYTES, from))?.mode;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
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
    const { before } = write;
    const { path, ...bounds } = targetOf(write, isAllowed);
    try {
      if (before === null) await workspace.remove(path, { madeFolder, ...bounds });
      else await workspace.replace(path, bytesOf(before), { mode, ...bounds });
    } catch {
      changed.push(write.path);
    }
  }
  return changed;
}
