import { isAbsolute, relative, sep } from "node:path";
import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { FileBefore, FilesBefore, TurnChanges, WorkingTree } from "../core/turn/changes.ts";
import type { ReadableFiles, WorkspaceFiles } from "../platform/platform.ts";
import { type FileChange, fileDiffs } from "./diff-text.ts";
import { GitError } from "./git.ts";
import { findRepository } from "./repository.ts";
import { type Restored, restoreFiles } from "./restore.ts";
import { type BlobStore, readFile, savedFile, saveFiles } from "./saved-files.ts";
import { SavedPacks } from "./saved-packs.ts";
import { touchesOf } from "./touched-files.ts";
import { diffRoom, diffWithin, digestOf } from "./turn-diff.ts";
import {
  pathFrom,
  pathsIn,
  type SavedTree,
  saveTree,
  type TrackedRepository,
  type TreePorts,
  treeDiff,
} from "./working-trees.ts";

/** What a call may change: these files, or whatever is in the workspace. */
export type FileScope = readonly string[] | "workspace";

/** What a thread keeps beside its journal. `folder`: where other programs may write; undefined if there is none. */
export interface ThreadStore extends BlobStore {
  readonly folder: string | undefined;
}

/** What a turn has changed, as clients are shown it. */
export interface ShownChanges {
  readonly diff: string;
  readonly digest: string;
  readonly trees: readonly WorkingTree[];
}

export interface TurnFilesPorts extends Omit<TreePorts, "heldTrees"> {
  readonly workspace: WorkspaceFiles;
  filesOf(owner: string): Pick<ReadableFiles, "openRead" | "readText" | "exists">;
}

/** A repository that took too long, or has too much in it, is not looked at for so long. */
const REST_MS = 10 * 60_000;

/** Saves files before calls change them, and says what a turn has made of them. */
export class TurnFiles {
  readonly #ports: TurnFilesPorts & TreePorts;
  /** By the folder that it is kept in: one run of git at a time has an index. */
  readonly #busy = new Map<string, Promise<unknown>>();
  /** Tops of repositories that are left alone for a while, and why. */
  readonly #resting = new Map<string, string>();

  readonly #packs: SavedPacks;

  constructor(ports: TurnFilesPorts) {
    this.#ports = { ...ports, heldTrees: new Map() };
    this.#packs = new SavedPacks(ports.files, () => ports.platform.clock.now());
  }

  /** Saves what a call may change. Never throws: a call is not held up by what cannot be saved. */
  async before(
    thread: ThreadState,
    store: ThreadStore,
    scope: FileScope,
    signal: AbortSignal,
  ): Promise<FilesBefore> {
    try {
      if (scope !== "workspace") {
        const { before, bytes } = await saveFiles(this.#ports, thread, store, scope);
        if (store.folder !== undefined && bytes > 0) await this.#packs.saved(store.folder, bytes);
        return before;
      }
      const { trees, missing } = await this.#saveTrees(thread, store, signal);
      return { pack: null, files: [], trees, ...(missing.length > 0 && { missing: missing.join("; ") }) };
    } catch (cause) {
      return { pack: null, files: [], trees: [], missing: (cause as Error).message };
    }
  }

  /** The diff of a turn: its files as they were before it, against what they are now. Says what it cannot show. */
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
        if (old === undefined) missing.add(`${file.path}: what was saved of it is gone`);
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

  /** What git says of the repositories that were saved as a whole. `covers`: whether it speaks for a file. */
  async #byGit(
    thread: ThreadState,
    repositories: readonly Found[],
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
        const after = await this.#alone(tracked, () => saveTree(this.#ports, view, tracked, signal));
        for (const what of after.missing) missing.add(what);
        // Files that were patched before it: they are compared with what they were then.
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
        // Files that were patched since: git speaks for those that it knows.
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
      const resting = this.#resting.get(top);
      if (resting !== undefined) {
        missing.push(resting);
        continue;
      }
      try {
        const saved: SavedTree = await this.#alone(tracked, () =>
          saveTree(this.#ports, view, tracked, signal),
        );
        trees.push({ top, tree: saved.tree });
        missing.push(...saved.missing);
      } catch (cause) {
        const why = `what commands change in ${top}: ${(cause as Error).message}`;
        missing.push(why);
        if (cause instanceof GitError && !signal.aborted) this.#rest(top, why);
      }
    }
    return { trees, missing };
  }

  /** Makes files what they were before what turns have done to them. `records`: of those turns, oldest first. */
  async restore(
    thread: ThreadState,
    store: ThreadStore,
    records: Iterable<ThreadRecord>,
    options: { readonly force: boolean; mayWrite(path: string): Promise<boolean> },
    signal: AbortSignal,
  ): Promise<Restored> {
    const found = await this.#repositories(thread, store);
    const named = thread.settings.roots ?? [thread.settings.cwd];
    const real = await Promise.all(named.map((root) => this.#ports.files.realPath(root).catch(() => root)));
    const allowed = await Promise.all(real.map((root) => options.mayWrite(root)));
    const roots = real.filter((_, nth) => allowed[nth]);
    const repositories = found.map(({ tracked }) => tracked);
    const scope = { roots, force: options.force };
    const touches = touchesOf(records);
    const view = this.#ports.filesOf(thread.facts.owner);
    const treeNow = (tracked: TrackedRepository): Promise<SavedTree> =>
      this.#alone(tracked, () => saveTree(this.#ports, view, tracked, signal));
    return restoreFiles({ ...this.#ports, treeNow }, thread, store, repositories, touches, scope, signal);
  }

  #rest(top: string, why: string): void {
    this.#resting.set(top, why);
    this.#ports.platform.timers.after(REST_MS, () => this.#resting.delete(top));
  }

  /** The repositories of a thread's workspace. None where nothing can be kept, as in ephemeral threads. */
  async #repositories(thread: ThreadState, { folder }: ThreadStore): Promise<readonly Found[]> {
    const { settings, facts } = thread;
    const found: Found[] = [];
    if (folder === undefined) return found;
    const view = this.#ports.filesOf(facts.owner);
    for (const named of settings.roots ?? [settings.cwd]) {
      const root = await this.#ports.files.realPath(named).catch(() => named);
      const repository = await findRepository(view, this.#ports.files, root).catch(() => undefined);
      if (repository === undefined) continue;
      const known = found.find(({ tracked }) => tracked.repository.top === repository.top);
      if (known !== undefined) known.roots.push(root);
      else {
        const roots = [root];
        found.push({ roots, tracked: { repository, roots, store: folder } });
      }
    }
    return found;
  }

  /** Runs while nothing else runs for the same repository of the same thread. */
  async #alone<T>({ store, repository }: TrackedRepository, work: () => Promise<T>): Promise<T> {
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

interface Found {
  readonly tracked: TrackedRepository;
  readonly roots: string[];
}

/** Each saved file as it was first, but for those that git speaks for. */
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

/** The saved files in a folder, from there. */
function pathsBelow(top: string, before: readonly FilesBefore[]): readonly string[] {
  return [...new Set(before.flatMap(({ files }) => files.flatMap(({ path }) => pathFrom(top, path) ?? [])))];
}

function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Names files as git does: from the top of their repository, else from the workspace's folder. */
function shownPath(path: string, tops: readonly string[], { settings }: ThreadState): string {
  for (const top of [...tops, ...(settings.roots ?? [settings.cwd])]) {
    const name = relative(top, path);
    if (name !== "" && !isAbsolute(name) && name !== ".." && !name.startsWith(`..${sep}`)) return name;
  }
  return path.replace(/^[/\\]+/, "");
}
