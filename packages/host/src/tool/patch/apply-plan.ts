import { createHash } from "node:crypto";
import type { WorkspaceFiles } from "../../platform/platform.ts";
import type { FileWrite } from "./plan.ts";

/** Files that are larger are not patched. */
export const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** A file of a plan as its record holds it: by digests, so that it is known again after a crash. Null: no file. */
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

/** How far a plan was carried out. */
export type Applied =
  | { readonly kind: "done" }
  /** `changed`: paths that are new all the same, because they could not be made old again. */
  | { readonly kind: "failed"; readonly why: string; readonly changed: readonly string[] };

/**
 * Carries out what is left of a plan. New content is written before anything is removed, so each file is old or new at any
 * moment, and a host that dies in between can be followed by one that does the rest. If a file cannot be written, those
 * that were written before it are made old again.
 */
export async function applyPlan(
  writes: readonly FileWrite[],
  workspace: WorkspaceFiles,
  isAllowed: (realPath: string) => boolean,
): Promise<Applied> {
  const done: { readonly write: FileWrite; readonly mode: number | undefined }[] = [];
  const ordered = [...writes].sort((one, other) => Number(one.after === null) - Number(other.after === null));
  for (const write of ordered) {
    try {
      const mode = await modeOf(workspace, write.path);
      // What was moved is removed last, so its mode can be read for as long as it is needed.
      const moved = write.movedFrom === undefined ? undefined : await modeOf(workspace, write.movedFrom);
      await put(write.path, write.after, moved ?? mode, workspace, isAllowed);
      done.push({ write, mode });
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

async function put(
  path: string,
  content: string | null,
  mode: number | undefined,
  workspace: WorkspaceFiles,
  isAllowed: (realPath: string) => boolean,
): Promise<void> {
  if (content === null) await workspace.remove(path, { isAllowed });
  else await workspace.replace(path, Buffer.from(content, "latin1"), { mode, isAllowed });
}

async function undo(
  done: readonly { readonly write: FileWrite; readonly mode: number | undefined }[],
  workspace: WorkspaceFiles,
  isAllowed: (realPath: string) => boolean,
): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const { write, mode } of [...done].reverse()) {
    try {
      await put(write.path, write.before, mode, workspace, isAllowed);
    } catch {
      changed.push(write.path);
    }
  }
  return changed;
}
