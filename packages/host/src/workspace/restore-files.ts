import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { protectedName } from "../core/protected-names.ts";
import type { ThreadState } from "../core/state.ts";
import type { WorkingTree } from "../core/turn/file-changes.ts";
import { isInAllowedFolders } from "../platform/allowed-folders.ts";
import { readFile, savedFile } from "./file-backups.ts";
import { changedPaths, contentOf, ignoredIn, treeEntries, UNSAVED_MODE } from "./git-tree-files.ts";
import type { PatchedFile, Touch } from "./recorded-file-changes.ts";
import {
  LINK_MODE,
  pathFrom,
  type TrackedRepository,
  type TreeEntry,
  type TreePorts,
} from "./tree-snapshots.ts";
import type { ThreadStore, TurnFilesPorts } from "./turn-files.ts";

export interface RestorePorts extends TurnFilesPorts, TreePorts {
  /** Takes a snapshot of a working tree. */
  treeNow(tracked: TrackedRepository): Promise<WorkingTree>;
}

/** The result of a restore, with absolute paths. */
export interface Restored {
  /** Files that have their previous content again. */
  readonly restored: readonly string[];
  /** Files that did not exist before, and were removed. */
  readonly removed: readonly string[];
  readonly failed: readonly Unrestored[];
}

export interface Unrestored {
  readonly path: string;
  readonly reason: string;
  /** Whether the file was only refused because it was changed since, so that `force` overwrites it. */
  readonly canForce: boolean;
}

/** Where a restore may write, and whether it overwrites later changes. */
export interface RestoreScope {
  /** The workspace's folders, as real paths; nothing outside them is written. */
  readonly roots: readonly string[];
  /** The real path of the host's home. Nothing in it is written, except in a root inside it. */
  readonly home: string;
  /** Whether files are overwritten that were changed after the turn, by the user or by another turn. */
  readonly force: boolean;
  /** Whether nothing is written. The result then says what a restore would do. */
  readonly dryRun: boolean;
}

/**
 * Restores files to their content before the given changes. If a file was changed several times, the first change
 * counts. Each file is replaced atomically, so that an interrupted restore can be repeated and does the rest.
 */
export async function restoreFiles(
  ports: RestorePorts,
  thread: ThreadState,
  store: ThreadStore,
  repositories: readonly TrackedRepository[],
  touches: readonly Touch[],
  scope: RestoreScope,
  signal: AbortSignal,
): Promise<Restored> {
  const outcome = { restored: [] as string[], removed: [] as string[], failed: [] as Unrestored[] };
  const touchesByPath = new Map<string, FileTouches>();
  const now = await addTrees(ports, repositories, touches, touchesByPath, outcome.failed, signal);
  touches.forEach((touch, order) => {
    if (touch.kind === "patched") add(touchesByPath, touch.file.path, order, patchTouch(store, touch));
  });
  for (const [path, fileTouches] of [...touchesByPath].sort(([one], [other]) => (one < other ? -1 : 1))) {
    try {
      const reason = refusalOf(path, scope);
      if (reason !== undefined) throw new Error(reason);
      const target = await fileTouches.first.target(signal);
      const isLink = await isLinkNow(ports, path, now);
      const current = isLink ? "link" : await readFile(ports, thread.facts.owner, path);
      if (current !== "link" && isSame(current, target)) continue;
      if (!scope.force && !(await fileTouches.last.isUnchangedSince(current, now))) {
        outcome.failed.push({ path, reason: "it was changed since", canForce: true });
        continue;
      }
      const isAllowed = (real: string): boolean => real === path && refusalOf(real, scope) === undefined;
      if ((target === null || current === "link") && !scope.dryRun)
        await ports.workspace.remove(path, { isAllowed });
      if (target === null) outcome.removed.push(path);
      else {
        const bytes = Buffer.from(target.content, "latin1");
        const mode = modeOf(target, current === "link" ? null : current);
        if (!scope.dryRun) await ports.workspace.replace(path, bytes, { mode, isAllowed });
        outcome.restored.push(path);
      }
    } catch (cause) {
      outcome.failed.push({ path, reason: (cause as Error).message, canForce: false });
    }
  }
  return outcome;
}

/**
 * Whether a path is a symlink in the current trees. Throws if any other symlink leads from the path to a different file,
 * which must not be overwritten in its place.
 */
async function isLinkNow({ files }: RestorePorts, path: string, trees: CurrentTrees): Promise<boolean> {
  const folder = await files.realPath(dirname(path));
  if (folder === dirname(path)) {
    for (const [top, entries] of trees)
      if (entries.get(pathFrom(top, path) ?? "")?.mode === LINK_MODE) return true;
  }
  const real = await files.realPath(path);
  if (real !== path) throw new Error(`a symlink leads from it to ${real}`);
  return false;
}

interface Content {
  readonly mode: number;
  readonly content: string;
  /** Whether the content comes from git, which stores only the executable bit of the mode. */
  readonly byGit?: boolean;
}

/** The mode of a restored file. A file from git keeps its current permissions except for the executable bits. */
function modeOf({ mode, byGit }: Content, current: Content | null): number | undefined {
  if (!byGit) return mode;
  const executable = (mode & 0o100) !== 0;
  if (current === null) return executable ? mode : undefined;
  return executable ? current.mode | ((current.mode & 0o444) >> 2) : current.mode & ~0o111;
}

/** The current tree entries by path, per top folder of a repository. */
type CurrentTrees = ReadonlyMap<string, ReadonlyMap<string, TreeEntry>>;

/** One change of one file: its content before the change, and whether the file is still as the change left it. */
interface FileTouch {
  target(signal: AbortSignal): Promise<Content | null>;
  isUnchangedSince(current: Content | "link" | null, now: CurrentTrees): boolean | Promise<boolean>;
}

interface FileTouches {
  readonly first: FileTouch;
  readonly firstOrder: number;
  readonly last: FileTouch;
  readonly lastOrder: number;
}

function add(touchesByPath: Map<string, FileTouches>, path: string, order: number, touch: FileTouch): void {
  const known = touchesByPath.get(path);
  if (known === undefined) {
    touchesByPath.set(path, { first: touch, firstOrder: order, last: touch, lastOrder: order });
    return;
  }
  touchesByPath.set(path, {
    ...known,
    ...(order < known.firstOrder && { first: touch, firstOrder: order }),
    ...(order > known.lastOrder && { last: touch, lastOrder: order }),
  });
}

function patchTouch(store: ThreadStore, { file, pack, after }: PatchedFile): FileTouch {
  return {
    async target() {
      const saved = await savedFile(store, pack, file);
      if (saved === undefined) throw new Error("its saved content no longer exists");
      return saved;
    },
    isUnchangedSince(current) {
      if (after === undefined || current === null) return after === undefined || after === null;
      if (current === "link") return false;
      return createHash("sha256").update(current.content, "latin1").digest("hex") === after;
    },
  };
}

/** Adds the files that commands changed. Resolves with the current trees. */
async function addTrees(
  ports: RestorePorts,
  repositories: readonly TrackedRepository[],
  touches: readonly Touch[],
  touchesByPath: Map<string, FileTouches>,
  failed: Unrestored[],
  signal: AbortSignal,
): Promise<CurrentTrees> {
  const now = new Map<string, ReadonlyMap<string, TreeEntry>>();
  for (const tracked of repositories) {
    const { top } = tracked.repository;
    const trees = touches.flatMap((touch, order) =>
      touch.kind === "tree" && touch.top === top ? [{ ...touch, order }] : [],
    );
    if (trees.length === 0) continue;
    try {
      const current = await ports.treeNow(tracked);
      const entries = await treeEntries(ports, tracked, current.tree, signal);
      now.set(top, entries);
      // The end of one turn is mostly the beginning of the next, and each run of git is a process in the sandbox.
      const known = new Map([[current.tree, entries]]);
      const entriesIn = async (tree: string): Promise<ReadonlyMap<string, TreeEntry>> => {
        const found = known.get(tree) ?? (await treeEntries(ports, tracked, tree, signal));
        known.set(tree, found);
        return found;
      };
      for (const { before, after: recorded, order } of trees) {
        const after = recorded ?? current.tree;
        const old = await entriesIn(before);
        const left = await entriesIn(after);
        const changed = await changedPaths(ports, tracked, before, after, signal);
        const isIgnored = await ignoredIn(ports, tracked, { tree: before, entries: old }, changed, signal);
        for (const path of changed) {
          add(touchesByPath, join(top, path), order, {
            target(abort) {
              if (!old.has(path) && isIgnored(path))
                throw new Error("git ignored it before the turn, so it may be older");
              return treeTarget(ports, tracked, before, path, old.get(path), abort);
            },
            isUnchangedSince(_, trees) {
              const seen = left.get(path);
              return seen?.mode !== UNSAVED_MODE && trees.get(top)?.get(path)?.id === seen?.id;
            },
          });
        }
      }
    } catch (cause) {
      failed.push({ path: top, reason: (cause as Error).message, canForce: false });
    }
  }
  const known = new Set(repositories.map(({ repository }) => repository.top));
  for (const touch of touches)
    if (touch.kind === "tree" && !known.has(touch.top) && !failed.some(({ path }) => path === touch.top))
      failed.push({
        path: touch.top,
        reason: "it is no longer a repository of this workspace",
        canForce: false,
      });
  return now;
}

async function treeTarget(
  ports: RestorePorts,
  tracked: TrackedRepository,
  tree: string,
  path: string,
  entry: TreeEntry | undefined,
  signal: AbortSignal,
): Promise<Content | null> {
  if (entry === undefined) return null;
  if (entry.mode === UNSAVED_MODE)
    throw new Error("it was not saved, because it was too large or could not be read");
  if (!entry.mode.startsWith("100"))
    throw new Error("only files can be restored, and it was a symlink or a repository");
  const bytes = await contentOf(ports, tracked, tree, path, signal);
  return { mode: entry.mode === "100755" ? 0o755 : 0o644, content: bytes.toString("latin1"), byGit: true };
}

/** Whether two contents are equal. Of the mode, only the executable bit counts, as in git. */
function isSame(one: Content | null, other: Content | null): boolean {
  if (one === null || other === null) return one === other;
  return one.content === other.content && (one.mode & 0o100) === (other.mode & 0o100);
}

/** Why a path must not be written; undefined if it may be. */
function refusalOf(path: string, scope: RestoreScope): string | undefined {
  const root = scope.roots.find((one) => pathFrom(one, path) !== undefined);
  if (root === undefined) return "it is outside the workspace";
  if (!isInAllowedFolders(path, scope)) return "it is in the home of the host";
  const name = protectedName(pathFrom(root, path)!);
  return name === undefined ? undefined : `nothing is restored in ${name}`;
}
