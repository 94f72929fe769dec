import type { ThreadRecord } from "../core/records.ts";
import type { FileBefore } from "../core/turn/changes.ts";

/** A file that a patch was about to change. */
export interface PatchedFile {
  readonly kind: "patched";
  readonly file: FileBefore;
  readonly pack: string | null;
  /** The digest of what it became; null: it was removed; undefined: not known. */
  readonly after: string | null | undefined;
}

/** A working tree that commands of a turn may have changed. `after` null: the turn has no end that was seen. */
export interface ChangedTree {
  readonly kind: "tree";
  readonly top: string;
  readonly before: string;
  readonly after: string | null;
}

/** What turns have done to files, in the order in which they did it. */
export type Touch = PatchedFile | ChangedTree;

/** Collects what records, oldest first, say about files. */
export function touchesOf(records: Iterable<ThreadRecord>): readonly Touch[] {
  const touches: Touch[] = [];
  /** Where the first tree of a repository stands, of the turn that is read. */
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

/** What a patch's plan says a file becomes. */
function plannedAfter(plan: unknown, path: string): string | null | undefined {
  const files = (plan as { files?: unknown } | null | undefined)?.files;
  if (!Array.isArray(files)) return undefined;
  const found = files.find((file: { path?: unknown } | null) => file?.path === path) as
    | { readonly after?: unknown }
    | undefined;
  const after = found?.after;
  return after === null || typeof after === "string" ? after : undefined;
}
