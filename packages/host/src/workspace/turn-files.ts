import { isAbsolute, relative, sep } from "node:path";
import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { FileBefore, FilesBefore, TurnChanges, WorkingTree } from "../core/turn/file-changes.ts";
import type { ReadableFiles, WorkspaceFiles } from "../platform/platform.ts";
import { WritableRoots } from "../sandbox/writable-roots.ts";
import { BackupRetention } from "./backup-retention.ts";
import { type BlobStore, readFile, savedFile, saveFiles } from "./file-backups.ts";
import { type FileChange, fileDiffs } from "./git-diff-text.ts";
import { findRepository } from "./git-repository-folders.ts";
import { touchesOf } from "./recorded-file-changes.ts";
import { diffToRemote, type RemoteDiff } from "./remote-diff.ts";
import { type Restored, restoreFiles } from "./restore-files.ts";
import { GitError } from "./run-git.ts";
import {
  pathFrom,
  pathsIn,
  type SavedTree,
  saveTree,
  type TrackedRepository,
  type TreePorts,
  treeDiff,
} from "./tree-snapshots.ts";
import { diffRoom, diffWithin, digestOf } from "./turn-diff-limits.ts";

/** The files that a call may change: a list, or everything in the workspace. */
export type FileScope = readonly string[] | "workspace";

/** A thread's storage beside its journal. `folder`: a folder in which git may write; null if there is none. */
export interface ThreadStore extends BlobStore {
  readonly folder: string | null;
}

/** The changes of a turn, as shown to clients. */
export interface ShownChanges {
  readonly diff: string;
  readonly digest: string;
  readonly trees: readonly WorkingTree[];
}

export interface TurnFilesPorts extends Omit<TreePorts, "latestTrees"> {
  readonly workspace: WorkspaceFiles;
  /** The host's home, in which nothing is restored. */
  readonly home: string;
  filesOf(owner: string): Pick<ReadableFiles, "openRead" | "readText" | "exists" | "list">;
}

/** How long a repository is skipped after a snapshot took too long or was too large. */
const SKIP_MS = 10 * 60_000;

/** Saves files before tool calls change them, and shows or undoes the changes of turns. */
export class TurnFiles {
  readonly #ports: TurnFilesPorts & TreePorts;
  /** The running git work, by git folder: only one git run at a time may use an index. */
  readonly #busy = new Map<string, Promise<unknown>>();
  /** Repositories that are skipped for a while, by top folder, with the reason. */
  readonly #skipped = new Map<string, string>();

  readonly #backups: BackupRetention;
  readonly #roots: WritableRoots;

  constructor(ports: TurnFilesPorts) {
    this.#ports = { ...ports, latestTrees: new Map() };
    this.#roots = new WritableRoots(ports.files);
    this.#backups = new BackupRetention(() => ports.platform.clock.now());
  }

  /** Saves the files that a call may change. Never throws: a failed backup does not stop the call. */
  async before(
    thread: ThreadState,
    store: ThreadStore,
    scope: FileScope,
    signal: AbortSignal,
  ): Promise<FilesBefore> {
    try {
      if (scope !== "workspace") {
        const { before, bytes } = await saveFiles(this.#ports, thread, store, scope);
        if (bytes > 0) await this.#backups.saved(thread.facts.id, store, bytes);
        return before;
      }
      const { trees, missing } = await this.#saveTrees(thread, store, signal);
      return { pack: null, files: [], trees, ...(missing.length > 0 && { missing: missing.join("; ") }) };
    } catch (cause) {
      return { pack: null, files: [], trees: [], missing: (cause as Error).message };
    }
  }

  /** The diff between the files before a turn and now. The text also names changes that it cannot show. */
  async diff(
    thread: ThreadState,
    store: ThreadStore,
    changes: TurnChanges,
    signal: AbortSignal,
  ): Promise<ShownChanges> {
    const missing = new Set(changes.before.flatMap((before) => before.missing ?? []));
    const repositories = await this.#repositories(thread, store);
    const tops = repositories.map(({ tracked }) => tracked.repository.top);
    const room = diffRoom(changes.sent);
    const byGit = await this.#byGit(thread, repositories, changes, room, missing, signal);
    const found: FileChange[] = [];
    for (const { file, pack } of firstSaved(changes, byGit.covers)) {
      try {
        const old = await savedFile(store, pack, file);
        const now = await readFile(this.#ports, thread.facts.owner, file.path);
        if (old === undefined) missing.add(`${file.path}: its saved content no longer exists`);
        else found.push({ path: bytesOf(shownPath(file.path, tops, thread)), before: old, after: now });
      } catch (cause) {
        missing.add(`${file.path}: ${(cause as Error).message}`);
      }
    }
    const diffs = [...fileDiffs(found), ...byGit.diffs].sort((one, other) => (one < other ? -1 : 1));
    const bytes = diffWithin(diffs, [...missing], room);
    return {
      diff: Buffer.from(bytes, "latin1").toString("utf8"),
      digest: digestOf(bytes),
      trees: byGit.trees,
    };
  }

  /**
   * The diff between the working tree around a folder and the newest commit that a remote has. Throws a `GitError` if
   * that cannot be determined.
   */
  diffToRemote(owner: string, cwd: string, store: string, signal: AbortSignal): Promise<RemoteDiff> {
    return diffToRemote(this.#ports, this.#ports.filesOf(owner), { owner, cwd, store }, signal);
  }

  /**
   * The changes in repositories that were saved as a whole, from git's diff. `covers`: whether that diff includes a
   * file.
   */
  async #byGit(
    thread: ThreadState,
    repositories: readonly FoundRepository[],
    changes: TurnChanges,
    room: number,
    missing: Set<string>,
    signal: AbortSignal,
  ): Promise<{
    readonly diffs: readonly string[];
    readonly trees: readonly WorkingTree[];
    covers(path: string, nth: number): boolean;
  }> {
    const view = this.#ports.filesOf(thread.facts.owner);
    const diffs: string[] = [];
    const trees: WorkingTree[] = [];
    const covered = new Map<string, number>();
    for (const { tracked } of repositories) {
      const { top } = tracked.repository;
      const nth = changes.before.findIndex((before) => before.trees.some((tree) => tree.top === top));
      const before = changes.before[nth]?.trees.find((tree) => tree.top === top)?.tree;
      if (before === undefined) continue;
      try {
        const after = await this.#exclusively(tracked, () => saveTree(this.#ports, view, tracked, signal));
        for (const what of after.missing) missing.add(what);
        // Files that were patched before this snapshot are compared with their own backups instead.
        const earlier = pathsBelow(top, changes.before.slice(0, nth));
        const found = await treeDiff(
          this.#ports,
          tracked,
          { before, after: after.tree, without: earlier },
          room + 1,
          signal,
        );
        diffs.push(...found.diffs);
        if (found.cut) missing.add("more than there is room for");
        trees.push({ top, tree: after.tree });
        // Of the files patched since, git covers those that its trees contain.
        const later = pathsBelow(top, changes.before.slice(nth)).filter((path) => !earlier.includes(path));
        for (const tree of [before, after.tree])
          for (const path of await pathsIn(this.#ports, tracked, tree, later, signal))
            covered.set(`${top}${sep}${path}`, nth);
      } catch (cause) {
        missing.add(`what commands have changed in ${top}: ${(cause as Error).message}`);
      }
    }
    return { diffs, trees, covers: (path, nth) => nth >= (covered.get(path) ?? Number.POSITIVE_INFINITY) };
  }

  async #saveTrees(
    thread: ThreadState,
    store: ThreadStore,
    signal: AbortSignal,
  ): Promise<{ readonly trees: readonly WorkingTree[]; readonly missing: readonly string[] }> {
    const view = this.#ports.filesOf(thread.facts.owner);
    const trees: WorkingTree[] = [];
    const missing: string[] = [];
    for (const { tracked } of await this.#repositories(thread, store)) {
      const { top } = tracked.repository;
      if (thread.turn?.changes?.before.some((before) => before.trees.some((tree) => tree.top === top)))
        continue;
      const skipReason = this.#skipped.get(top);
      if (skipReason !== undefined) {
        missing.push(skipReason);
        continue;
      }
      try {
        const saved: SavedTree = await this.#exclusively(tracked, () =>
          saveTree(this.#ports, view, tracked, signal),
        );
        trees.push({ top, tree: saved.tree });
        missing.push(...saved.missing);
      } catch (cause) {
        const why = `what commands change in ${top}: ${(cause as Error).message}`;
        missing.push(why);
        if (cause instanceof GitError && !signal.aborted) this.#skipForAWhile(top, why);
      }
    }
    return { trees, missing };
  }

  /** Restores files to their content before some turns. `records`: the records of those turns, oldest first. */
  async restore(
    thread: ThreadState,
    store: ThreadStore,
    records: Iterable<ThreadRecord>,
    options: {
      readonly force: boolean;
      readonly dryRun?: boolean;
      mayWrite(path: string): Promise<boolean>;
    },
    signal: AbortSignal,
  ): Promise<Restored> {
    const found = await this.#repositories(thread, store);
    const named = thread.settings.roots ?? [thread.settings.cwd];
    const real = await this.#roots.of(named);
    const allowed = await Promise.all(real.map((root) => options.mayWrite(root)));
    const roots = real.filter((_, nth) => allowed[nth]);
    const repositories = found.map(({ tracked }) => tracked);
    const home = await this.#ports.files.realPath(this.#ports.home).catch(() => this.#ports.home);
    const scope = { roots, home, force: options.force, dryRun: options.dryRun ?? false };
    const touches = touchesOf(records);
    const view = this.#ports.filesOf(thread.facts.owner);
    const treeNow = (tracked: TrackedRepository): Promise<SavedTree> =>
      this.#exclusively(tracked, () => saveTree(this.#ports, view, tracked, signal));
    return restoreFiles({ ...this.#ports, treeNow }, thread, store, repositories, touches, scope, signal);
  }

  #skipForAWhile(top: string, why: string): void {
    this.#skipped.set(top, why);
    this.#ports.platform.timers.after(SKIP_MS, () => this.#skipped.delete(top));
  }

  /** The repositories in a thread's workspace. None for threads without a storage folder, such as ephemeral ones. */
  async #repositories(thread: ThreadState, { folder }: ThreadStore): Promise<readonly FoundRepository[]> {
    const { settings, facts } = thread;
    const found: FoundRepository[] = [];
    if (folder === null) return found;
    const view = this.#ports.filesOf(facts.owner);
    for (const named of settings.roots ?? [settings.cwd]) {
      const root = await this.#ports.files.realPath(named).catch(() => named);
      const repository = await findRepository(view, this.#ports.files, root).catch(() => undefined);
      if (repository === undefined) continue;
      const known = found.find(({ tracked }) => tracked.repository.top === repository.top);
      if (known !== undefined) known.roots.push(root);
      else {
        const roots = [root];
        found.push({ roots, tracked: { owner: facts.owner, repository, roots, store: folder } });
      }
    }
    return found;
  }

  /** Runs `work` while no other work runs for the same repository of the same thread. */
  async #exclusively<T>({ store, repository }: TrackedRepository, work: () => Promise<T>): Promise<T> {
    const key = `${store}\n${repository.top}`;
    const before = this.#busy.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#busy.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#busy.get(key) === mine) this.#busy.delete(key);
    }
  }
}

interface FoundRepository {
  readonly tracked: TrackedRepository;
  readonly roots: string[];
}

/** The first backup of each file, except of files that git's diff covers. */
function firstSaved(
  { before }: TurnChanges,
  covers: (path: string, nth: number) => boolean,
): readonly { readonly file: FileBefore; readonly pack: string | null }[] {
  const first = new Map<string, { readonly file: FileBefore; readonly pack: string | null }>();
  before.forEach(({ pack, files }, nth) => {
    for (const file of files)
      if (!first.has(file.path) && !covers(file.path, nth)) first.set(file.path, { file, pack });
  });
  return [...first.values()];
}

/** The saved files in a folder, by their paths relative to it. */
function pathsBelow(top: string, before: readonly FilesBefore[]): readonly string[] {
  return [...new Set(before.flatMap(({ files }) => files.flatMap(({ path }) => pathFrom(top, path) ?? [])))];
}

function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** The path of a file as a diff shows it: relative to the top of its repository, else to the workspace folder. */
function shownPath(path: string, tops: readonly string[], { settings }: ThreadState): string {
  for (const top of [...tops, ...(settings.roots ?? [settings.cwd])]) {
    const name = relative(top, path);
    if (name !== "" && !isAbsolute(name) && name !== ".." && !name.startsWith(`..${sep}`)) return name;
  }
  return path.replace(/^[/\\]+/, "");
}
