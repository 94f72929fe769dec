import type { ThreadRecord } from "../core/records.ts";
import type { FileBefore } from "../core/turn/file-changes.ts";

/** A file that a patch was about to change. */
export interface PatchedFile {
  readonly kind: "patched";
  readonly file: FileBefore;
  readonly pack: string | null;
  /** The digest of its new content; null if it was removed, undefined if unknown. */
  readonly after: string | null | undefined;
}

/** A working tree that commands of a turn may have changed. `after` is null if the turn's end was not recorded. */
export interface ChangedTree {
  readonly kind: "tree";
  readonly top: string;
  readonly before: string;
  readonly after: string | null;
}

/** A change to files by a turn. */
export type Touch = PatchedFile | ChangedTree;

/** Collects the file changes that records describe; the records must be oldest first. */
export function touchesOf(records: Iterable<ThreadRecord>): readonly Touch[] {
  const touches: Touch[] = [];
  /** Positions in `touches` of the current turn's first tree per repository. */
  let trees = new Map<string, number>();
  for (const record of records) {
    if (record.type === "turnStarted") trees = new Map();
    if (record.type === "toolDispatched" && record.before !== undefined) {
      const { before, plan } = record;
      for (const { top, tree } of before.trees) {
        if (trees.has(top)) continue;
        trees.set(top, touches.length);
        touches.push({ kind: "tree", top, before: tree, after: null });
      }
      for (const file of before.files)
        touches.push({ kind: "patched", file, pack: before.pack, after: plannedAfter(plan, file.path) });
    }
    if (record.type === "turnDiffed") {
      for (const { top, tree } of record.trees) {
        const at = trees.get(top);
        const touch = at === undefined ? undefined : touches[at];
        if (touch?.kind === "tree") touches[at!] = { ...touch, after: tree };
      }
    }
  }
  return touches;
}

/** The digest that a patch's plan gives for a file, by its real path. */
function plannedAfter(plan: unknown, path: string): string | null | undefined {
  const { files, allowed } = (plan ?? {}) as { files?: unknown; allowed?: unknown };
  if (!Array.isArray(files)) return undefined;
  const real = Array.isArray(allowed) ? allowed.indexOf(path) : -1;
  const found = (real >= 0 ? files[real] : files.find((file) => file?.path === path)) as
    | { readonly after?: unknown }
    | null
    | undefined;
  const after = found?.after;
  return after === null || typeof after === "string" ? after : undefined;
}
