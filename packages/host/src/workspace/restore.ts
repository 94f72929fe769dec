import { createHash } from "node:crypto";
import { join, sep } from "node:path";
import type { ThreadState } from "../core/state.ts";
import type { WorkingTree } from "../core/turn/changes.ts";
import { readFile, savedFile } from "./saved-files.ts";
import type { PatchedFile, Touch } from "./touched-files.ts";
import { changedPaths, contentOf, type TreeEntry, treeEntries } from "./tree-files.ts";
import type { ThreadStore, TurnFilesPorts } from "./turn-files.ts";
import { pathFrom, type TrackedRepository, type TreePorts } from "./working-trees.ts";

export interface RestorePorts extends TurnFilesPorts, TreePorts {
  /** A working tree as it is now. */
  treeNow(tracked: TrackedRepository): Promise<WorkingTree>;
}

/** What came of a restore, in absolute paths. */
export interface Restored {
  /** Have their content of before again. */
  readonly restored: readonly string[];
  /** Were not there before, and are gone again. */
  readonly removed: readonly string[];
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
}

export interface RestoreScope {
  /** The workspace's folders, as real paths: nothing else is written. */
  readonly roots: readonly string[];
  /** Overwrites what was changed since, by whomever. */
  readonly force: boolean;
}

/**
 * Makes files what they were before some touches, the first of which counts for each file. A file at a time, old or new at
 * any moment: a restore that was cut off can be asked for again, and does the rest.
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
  const outcome = { restored: [] as string[], removed: [] as string[], failed: [] as Failed[] };
  const plan = new Map<string, Wanted>();
  const now = await addTrees(ports, repositories, touches, plan, outcome.failed, signal);
  touches.forEach((touch, order) => {
    if (touch.kind === "patched") add(plan, touch.file.path, order, patched(store, touch));
  });
  for (const [path, wanted] of [...plan].sort(([one], [other]) => (one < other ? -1 : 1))) {
    try {
      const reason = refusalOf(path, scope);
      if (reason !== undefined) throw new Error(reason);
      const target = await wanted.first.target(signal);
      const current = await readFile(ports, thread.facts.owner, path);
      if (isSame(current, target)) continue;
      if (!scope.force && !(await wanted.last.isAsLeft(current, now)))
        throw new Error("it was changed since; restore it with `force`");
      const isAllowed = (real: string): boolean => refusalOf(real, scope) === undefined;
      if (target === null) {
        await ports.workspace.remove(path, { isAllowed });
        outcome.removed.push(path);
      } else {
        const bytes = Buffer.from(target.content, "latin1");
        await ports.workspace.replace(path, bytes, { mode: modeOf(target, current), isAllowed });
        outcome.restored.push(path);
      }
    } catch (cause) {
      outcome.failed.push({ path, reason: (cause as Error).message });
    }
  }
  return outcome;
}

interface Failed {
  readonly path: string;
  readonly reason: string;
}

interface Content {
  readonly mode: number;
  readonly content: string;
  /** Only whether it can be executed is known of its mode: git keeps no more. */
  readonly byGit?: boolean;
}

/** The mode of a restored file. One that git saved keeps what others may do with it. */
function modeOf({ mode, byGit }: Content, current: Content | null): number | undefined {
  if (!byGit) return mode;
  const executable = (mode & 0o100) !== 0;
  if (current === null) return executable ? mode : undefined;
  return executable ? current.mode | ((current.mode & 0o444) >> 2) : current.mode & ~0o111;
}

/** The trees as they are now, by the repository's top. */
type CurrentTrees = ReadonlyMap<string, ReadonlyMap<string, TreeEntry>>;

/** One touch of one file: what it was before, and whether it still is what the touch made of it. */
interface FileTouch {
  target(signal: AbortSignal): Promise<Content | null>;
  isAsLeft(current: Content | null, now: CurrentTrees): boolean | Promise<boolean>;
}

interface Wanted {
  readonly first: FileTouch;
  readonly firstOrder: number;
  readonly last: FileTouch;
  readonly lastOrder: number;
}

function add(plan: Map<string, Wanted>, path: string, order: number, touch: FileTouch): void {
  const known = plan.get(path);
  if (known === undefined) {
    plan.set(path, { first: touch, firstOrder: order, last: touch, lastOrder: order });
    return;
  }
  plan.set(path, {
    ...known,
    ...(order < known.firstOrder && { first: touch, firstOrder: order }),
    ...(order > known.lastOrder && { last: touch, lastOrder: order }),
  });
}

function patched(store: ThreadStore, { file, pack, after }: PatchedFile): FileTouch {
  return {
    async target() {
      const saved = await savedFile(store, pack, file);
      if (saved === undefined) throw new Error("what was saved of it is gone");
      return saved;
    },
    isAsLeft(current) {
      if (after === undefined || current === null) return after === undefined || after === null;
      return createHash("sha256").update(current.content, "latin1").digest("hex") === after;
    },
  };
}

/** Adds what commands have changed. Gives the trees as they are now. */
async function addTrees(
  ports: RestorePorts,
  repositories: readonly TrackedRepository[],
  touches: readonly Touch[],
  plan: Map<string, Wanted>,
  failed: Failed[],
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
      for (const { before, after: seen, order } of trees) {
        const after = seen ?? current.tree;
        const old = await treeEntries(ports, tracked, before, signal);
        const left = await treeEntries(ports, tracked, after, signal);
        for (const path of await changedPaths(ports, tracked, before, after, signal)) {
          add(plan, join(top, path), order, {
            target: (abort) => treeTarget(ports, tracked, before, path, old.get(path), abort),
            isAsLeft: (_, trees) => trees.get(top)?.get(path)?.id === left.get(path)?.id,
          });
        }
      }
    } catch (cause) {
      failed.push({ path: top, reason: (cause as Error).message });
    }
  }
  const known = new Set(repositories.map(({ repository }) => repository.top));
  for (const touch of touches)
    if (touch.kind === "tree" && !known.has(touch.top) && !failed.some(({ path }) => path === touch.top))
      failed.push({ path: touch.top, reason: "it is no repository of this workspace any more" });
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
  if (!entry.mode.startsWith("100"))
    throw new Error("only files are restored: it was a link or a repository");
  const bytes = await contentOf(ports, tracked, tree, path, signal);
  return { mode: entry.mode === "100755" ? 0o755 : 0o644, content: bytes.toString("latin1"), byGit: true };
}

/** Modes differ where git sees them differ. */
function isSame(one: Content | null, other: Content | null): boolean {
  if (one === null || other === null) return one === other;
  return one.content === other.content && (one.mode & 0o100) === (other.mode & 0o100);
}

/** Why a path is not written. */
function refusalOf(path: string, { roots }: RestoreScope): string | undefined {
  const root = roots.find((one) => pathFrom(one, path) !== undefined);
  if (root === undefined) return "it is outside of the workspace";
  return pathFrom(root, path)!.split(sep).includes(".git") ? "it belongs to git" : undefined;
}
