import { createHash } from "node:crypto";
import { join, relative, sep } from "node:path";
import type { WorkingTree } from "../core/turn/changes.ts";
import type { Files, ReadableFiles } from "../platform/platform.ts";
import { GitError, type GitOutput, type GitPorts, runGit } from "./git.ts";
import type { Repository } from "./repository.ts";

/** One repository of a thread's workspace. */
export interface TrackedRepository {
  readonly repository: Repository;
  /** Folders in it that belong to the workspace. */
  readonly roots: readonly string[];
  /** The thread's folder for git's objects. */
  readonly store: string;
}

export interface TreePorts extends GitPorts {
  readonly files: Files;
  /** The trees that indexes of ours hold, by their git folder: where no file differs, git need not be asked again. */
  readonly heldTrees: Map<string, string>;
}

/** What a snapshot may take. Beyond that the files are left out, and the diff says so. */
const MAX_MS = 5000;
const MAX_LIST_BYTES = 2 * 1024 * 1024;
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
/** Of a thread's objects, about: the oldest snapshots go with all others when there is more. */
const MAX_STORE_BYTES = 512 * 1024 * 1024;
/** A store whose last snapshot is older is removed with the next one. */
const MAX_AGE_MS = 30 * 24 * 60 * 60_000;
const OPEN_AT_ONCE = 16;

/** A working tree as it is now. `missing`: what is not in it, and why. */
export interface SavedTree extends WorkingTree {
  readonly missing: readonly string[];
}

/**
 * Saves the working tree as a tree object in the thread's own store: files that git would track, ignored ones left out.
 * The repository is only read: index, refs and objects of its own stay as they are.
 */
export async function saveTree(
  ports: TreePorts,
  view: Pick<ReadableFiles, "openRead" | "readText">,
  tracked: TrackedRepository,
  signal: AbortSignal,
): Promise<SavedTree> {
  const gitDir = gitDirOf(tracked);
  await prepare(ports, view, tracked, gitDir);
  try {
    return await save(ports, view, tracked, gitDir, signal);
  } catch (cause) {
    if (!(cause instanceof GitError) || signal.aborted || /took longer/.test(cause.message)) throw cause;
    // An index that is split, unmerged or broken: one of our own takes its place, from nothing.
    await ports.files.remove(join(gitDir, "index"));
    ports.heldTrees.delete(gitDir);
    return save(ports, view, tracked, gitDir, signal);
  }
}

/** The diff between two trees of a repository, file by file, without those paths. `cut`: not all of it. */
export async function treeDiff(
  ports: TreePorts,
  tracked: TrackedRepository,
  { before, after, without }: { before: string; after: string; without: readonly string[] },
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ readonly diffs: readonly string[]; readonly cut: boolean }> {
  if (before === after) return { diffs: [], cut: false };
  const options = ["-r", "-p", "-M", "-l200", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color"];
  const args = ["diff-tree", ...options, before, after];
  const { stdout, cut } = await gitIn(ports, tracked, args, { signal, maxBytes });
  const diffs = stdout.toString("latin1").split(/^(?=diff --git )/m);
  const left = new Set(without.map((path) => Buffer.from(path, "utf8").toString("latin1")));
  return { diffs: diffs.filter((diff) => diff !== "" && !isOf(diff, left)), cut };
}

/** Whether a file's diff is of one of these paths. */
function isOf(diff: string, paths: ReadonlySet<string>): boolean {
  const header = diff.slice(0, diff.indexOf("\n"));
  return [...paths].some((path) => header === `diff --git a/${path} b/${path}`);
}

/** Of some paths from the top, those that a tree has. */
export async function pathsIn(
  ports: TreePorts,
  tracked: TrackedRepository,
  tree: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const args = ["ls-tree", "-r", "-z", "--name-only", tree, "--", ...paths];
  const { stdout } = await gitIn(ports, tracked, args, { signal });
  return stdout.toString("utf8").split("\0").filter(Boolean);
}

function gitDirOf({ store, repository }: TrackedRepository): string {
  return join(store, `git-${createHash("sha256").update(repository.top).digest("hex").slice(0, 16)}`);
}

async function save(
  ports: TreePorts,
  view: Pick<ReadableFiles, "openRead">,
  tracked: TrackedRepository,
  gitDir: string,
  signal: AbortSignal,
): Promise<SavedTree> {
  const { top } = tracked.repository;
  const missing: string[] = [];
  const listed = await changedFiles(ports, tracked, signal);
  const { paths, bytes } = await small(view, top, listed, missing);
  if (paths.length > 0) {
    const input = paths.map((path) => `${path}\0`).join("");
    ports.heldTrees.delete(gitDir);
    await gitIn(ports, tracked, ["update-index", "-z", "--add", "--remove", "--stdin"], { signal, input });
    await grow(ports, gitDir, bytes);
  }
  const held = ports.heldTrees.get(gitDir);
  if (held !== undefined) return { top, tree: held, missing };
  const { stdout } = await gitIn(ports, tracked, ["write-tree"], { signal });
  const tree = stdout.toString("latin1").trim();
  hold(ports.heldTrees, gitDir, tree);
  return { top, tree, missing };
}

const MAX_HELD = 1000;

function hold(trees: Map<string, string>, gitDir: string, tree: string): void {
  trees.set(gitDir, tree);
  if (trees.size > MAX_HELD) trees.delete(trees.keys().next().value!);
}

/** Files that differ from the index, or are not in it and not ignored. */
async function changedFiles(
  ports: TreePorts,
  tracked: TrackedRepository,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { repository, roots } = tracked;
  const within = roots.map((root) => relative(repository.top, root)).filter((path) => path !== "");
  const scope = within.length < roots.length ? [] : ["--", ...within];
  const args = ["ls-files", "-z", "-m", "-o", "--exclude-standard", ...scope];
  const { stdout, cut } = await gitIn(ports, tracked, args, { signal, maxBytes: MAX_LIST_BYTES });
  if (cut) throw new GitError("too many files are new or changed");
  // A folder is a repository in the repository.
  const paths = stdout.toString("utf8").split("\0");
  return [...new Set(paths.filter((path) => path !== "" && !path.endsWith("/")))];
}

/** Those files that are not too large to save, and those that are gone. */
async function small(
  view: Pick<ReadableFiles, "openRead">,
  top: string,
  paths: readonly string[],
  missing: string[],
): Promise<{ readonly paths: readonly string[]; readonly bytes: number }> {
  const found: string[] = [];
  let total = 0;
  for (let from = 0; from < paths.length; from += OPEN_AT_ONCE) {
    const some = paths.slice(from, from + OPEN_AT_ONCE);
    const sizes = await Promise.all(some.map((path) => sizeOf(view, join(top, path))));
    some.forEach((path, nth) => {
      const size = sizes[nth]!;
      if (size > MAX_FILE_BYTES) missing.push(`${path}: it is larger than ${MAX_FILE_BYTES} bytes`);
      else if (total + size > MAX_TOTAL_BYTES) missing.push(`${path}: too much has changed`);
      else {
        found.push(path);
        total += size;
      }
    });
  }
  if (missing.length > 10)
    missing.splice(10, missing.length, `${missing.length - 10} more files that are too large`);
  return { paths: found, bytes: total };
}

async function sizeOf(view: Pick<ReadableFiles, "openRead">, path: string): Promise<number> {
  try {
    const file = await view.openRead(path);
    if (file === undefined) return 0;
    try {
      return await file.size();
    } finally {
      await file.close();
    }
  } catch {
    // A link to a folder, say: git knows what to do with it.
    return 0;
  }
}

/** Runs git for a repository, with the thread's own git folder. */
export async function gitIn(
  ports: TreePorts,
  tracked: TrackedRepository,
  args: readonly string[],
  options: { readonly signal: AbortSignal; readonly input?: string; readonly maxBytes?: number },
): Promise<GitOutput> {
  const { top, config } = tracked.repository;
  const { signal, input, maxBytes = MAX_LIST_BYTES } = options;
  return runGit(ports, {
    args,
    cwd: top,
    gitDir: gitDirOf(tracked),
    config,
    maxBytes,
    maxMs: MAX_MS,
    signal,
    ...(input !== undefined && { input }),
  });
}

/** Makes the git folder that we work with, unless it is there. */
async function prepare(
  ports: TreePorts,
  view: Pick<ReadableFiles, "openRead" | "readText">,
  { repository }: TrackedRepository,
  gitDir: string,
): Promise<void> {
  const { files } = ports;
  // Of a run that was killed: nobody else works here.
  await files.remove(join(gitDir, "index.lock"));
  const { at } = await sizeOfStore(files, gitDir);
  const isOld = at !== undefined && ports.platform.clock.now() - at > MAX_AGE_MS;
  // Written last: what is there is whole.
  if (!isOld && (await files.exists(join(gitDir, "HEAD")))) return;
  await files.remove(gitDir);
  ports.heldTrees.delete(gitDir);
  const { objects, excludes, index, sha256 } = repository;
  const ignored = await Promise.all(excludes.map((path) => view.readText(path).catch(() => undefined)));
  await put(files, join(gitDir, "objects", "info", "alternates"), objects === null ? "" : `${objects}\n`);
  await put(files, join(gitDir, "refs", "heads", ".keep"), "");
  await put(files, join(gitDir, "info", "exclude"), ignored.map((text) => `${text ?? ""}\n`).join(""));
  // Files as they are: no program of the repository's turns them into something else.
  await put(files, join(gitDir, "info", "attributes"), "* -filter !diff !merge\n");
  const format = sha256
    ? "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
    : "[core]\n\trepositoryformatversion = 0\n";
  await put(files, join(gitDir, "config"), format);
  // What git knows of the files already need not be read again.
  const known = index === null ? undefined : await wholeFile(view, index);
  if (known !== undefined) await put(files, join(gitDir, "index"), known);
  await put(files, join(gitDir, "HEAD"), "ref: refs/heads/none\n");
}

const MAX_INDEX_BYTES = 64 * 1024 * 1024;

async function wholeFile(
  view: Pick<ReadableFiles, "openRead">,
  path: string,
): Promise<Uint8Array | undefined> {
  const file = await view.openRead(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const size = await file.size();
    return size > MAX_INDEX_BYTES ? undefined : await file.read(0, size);
  } finally {
    await file.close();
  }
}

async function put(files: Files, path: string, content: string | Uint8Array): Promise<void> {
  await files.remove(path);
  const file = await files.openAppend(path, { fresh: true });
  try {
    const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content;
    if (bytes.length > 0) await file.append(bytes);
  } finally {
    await file.close();
  }
}

/** Counts what the store has taken; one that has grown too large begins anew with the next snapshot. */
async function grow({ files, platform }: TreePorts, gitDir: string, bytes: number): Promise<void> {
  const size = (await sizeOfStore(files, gitDir)).bytes + bytes;
  await put(files, join(gitDir, "size"), `${size} ${platform.clock.now()}`);
  if (size > MAX_STORE_BYTES) await files.remove(join(gitDir, "HEAD"));
}

/** What a store has taken, about, and when it last took something. */
async function sizeOfStore(
  files: Files,
  gitDir: string,
): Promise<{ readonly bytes: number; readonly at: number | undefined }> {
  const text = (await files.readText(join(gitDir, "size"))) ?? "";
  const [, bytes, at] = /^(\d+) (\d+)$/.exec(text) ?? [];
  return { bytes: Number(bytes ?? 0), at: at === undefined ? undefined : Number(at) };
}

/** A path from a repository's top, if it is in it. */
export function pathFrom(top: string, path: string): string | undefined {
  const inside = path.startsWith(top.endsWith(sep) ? top : top + sep);
  return inside ? relative(top, path) : undefined;
}
