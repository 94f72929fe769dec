import { createHash } from "node:crypto";
import { join, relative, sep } from "node:path";
import type { WorkingTree } from "../core/turn/file-changes.ts";
import type { Files, ReadableFiles } from "../platform/platform.ts";
import type { Repository } from "./git-repository-folders.ts";
import { GitError, type GitOutput, type GitPorts, runGit } from "./run-git.ts";

/** A repository in a thread's workspace. */
export interface TrackedRepository {
  /** The owner of the thread. */
  readonly owner: string;
  readonly repository: Repository;
  /** The repository's folders that belong to the workspace. */
  readonly roots: readonly string[];
  /** The thread's storage folder, in which git objects are stored. */
  readonly store: string;
}

export interface TreePorts extends GitPorts {
  readonly files: Files;
  /** The latest tree per git folder. If no file differs from the index, the tree need not be written again. */
  readonly latestTrees: Map<string, string>;
}

/** Limits on a snapshot: time, and bytes. Files beyond them are left out, and the diff says so. */
const MAX_MS = 5000;
const MAX_LIST_BYTES = 2 * 1024 * 1024;
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
/**
 * Approximate limit on the bytes of a thread's store. Beyond it the store is recreated, and all snapshots are lost.
 */
const MAX_STORE_BYTES = 512 * 1024 * 1024;
/** A store whose last snapshot is older than this is recreated with the next snapshot. */
const MAX_AGE_MS = 30 * 24 * 60 * 60_000;
const OPEN_AT_ONCE = 16;

export const LINK_MODE = "120000";
/**
 * The content of the entries of files that were not saved. Without an entry, such a file would seem not to exist, or to
 * have the content that it has in the repository's index. The entries have the mode of a symlink, so that git always
 * compares them with the files again.
 */
const PLACEHOLDER = "This file was not saved.";

/** The id of the entries of files that were not saved. */
export function placeholderId({ repository }: Pick<TrackedRepository, "repository">): string {
  const algorithm = repository.sha256 ? "sha256" : "sha1";
  return createHash(algorithm).update(`blob ${PLACEHOLDER.length}\0${PLACEHOLDER}`).digest("hex");
}

/** A snapshot of a working tree. `missing`: what is not in it, and why. */
export interface SavedTree extends WorkingTree {
  readonly missing: readonly string[];
}

/**
 * Saves a working tree as a git tree object in the thread's own store: all files that git would track, without
 * ignored ones. The repository is only read; its index, refs and objects do not change.
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
    // The copied index is split, unmerged or broken, so an empty one replaces it.
    await ports.files.remove(join(gitDir, "index"));
    ports.latestTrees.delete(gitDir);
    return save(ports, view, tracked, gitDir, signal);
  }
}

/** The diff between two trees, per file, except for the paths in `without`. `cut`: whether the diff is incomplete. */
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
  // A file that was saved in one of the trees only has two diffs with the same header: one deletes it, the other one
  // creates it.
  const id = placeholderId(tracked);
  const unsaved = new Set(diffs.filter((diff) => indexLine(diff).includes(id)).map(headerOf));
  const isShown = (diff: string): boolean =>
    diff !== "" && !isAbout(diff, left) && !unsaved.has(headerOf(diff));
  return { diffs: diffs.filter(isShown), cut };
}

function headerOf(diff: string): string {
  return diff.slice(0, diff.indexOf("\n"));
}

/** The line of a file's diff that names the ids of both contents. */
function indexLine(diff: string): string {
  return /^index .*$/m.exec(diff)?.[0] ?? "";
}

/** Whether a file's diff is about one of these paths. */
function isAbout(diff: string, paths: ReadonlySet<string>): boolean {
  const header = headerOf(diff);
  return [...paths].some((path) => header === `diff --git a/${path} b/${path}`);
}

/** The given paths, relative to the top folder, whose content a tree contains. */
export async function pathsIn(
  ports: TreePorts,
  tracked: TrackedRepository,
  tree: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const args = ["ls-tree", "-r", "-z", tree, "--", ...paths];
  const { stdout } = await gitIn(ports, tracked, args, { signal });
  const id = placeholderId(tracked);
  return [...entriesOf(stdout)].flatMap(([path, entry]) => (entry.id === id ? [] : path));
}

/** A file in a git tree. */
export interface TreeEntry {
  readonly mode: string;
  readonly id: string;
}

/** Parses the output of `git ls-tree -z`: entries by their paths. */
export function entriesOf(output: Buffer): ReadonlyMap<string, TreeEntry> {
  const entries = new Map<string, TreeEntry>();
  for (const line of output.toString("utf8").split("\0")) {
    const [, mode, id, path] = /^(\d+) \w+ (\w+)\t([\s\S]+)$/.exec(line) ?? [];
    if (path !== undefined) entries.set(path, { mode: mode!, id: id! });
  }
  return entries;
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
  const { paths, bytes, unsaved } = await savableFiles(ports, view, top, listed, missing);
  if (paths.length > 0) {
    const input = paths.map((path) => `${path}\0`).join("");
    ports.latestTrees.delete(gitDir);
    await gitIn(ports, tracked, ["update-index", "-z", "--add", "--remove", "--stdin"], { signal, input });
    await addToSize(ports, gitDir, bytes);
  }
  if (unsaved.length > 0) {
    ports.latestTrees.delete(gitDir);
    await gitIn(ports, tracked, ["hash-object", "-w", "--stdin"], { signal, input: PLACEHOLDER });
    const entry = `${LINK_MODE} ${placeholderId(tracked)}`;
    const input = unsaved.map((path) => `${entry}\t${path}\0`).join("");
    await gitIn(ports, tracked, ["update-index", "-z", "--index-info"], { signal, input });
  }
  const latest = ports.latestTrees.get(gitDir);
  if (latest !== undefined) return { top, tree: latest, missing };
  const { stdout } = await gitIn(ports, tracked, ["write-tree"], { signal });
  const tree = stdout.toString("latin1").trim();
  remember(ports.latestTrees, gitDir, tree);
  return { top, tree, missing };
}

const MAX_REMEMBERED = 1000;

function remember(trees: Map<string, string>, gitDir: string, tree: string): void {
  trees.set(gitDir, tree);
  if (trees.size > MAX_REMEMBERED) trees.delete(trees.keys().next().value!);
}

/** Files that differ from the index, or are untracked and not ignored. */
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
  // A path that ends with a slash is a nested repository.
  const paths = stdout.toString("utf8").split("\0");
  return [...new Set(paths.filter((path) => path !== "" && !path.endsWith("/")))];
}

/** Separates files that cannot be saved; removed files are in `paths`. */
async function savableFiles(
  { platform: { clock } }: TreePorts,
  view: Pick<ReadableFiles, "openRead">,
  top: string,
  paths: readonly string[],
  missing: string[],
): Promise<{
  readonly paths: readonly string[];
  readonly bytes: number;
  readonly unsaved: readonly string[];
}> {
  const found: string[] = [];
  const unsaved: string[] = [];
  let total = 0;
  const startedAt = clock.monotonic();
  for (let from = 0; from < paths.length; from += OPEN_AT_ONCE) {
    if (clock.monotonic() - startedAt > MAX_MS)
      throw new GitError(
        `looking at ${paths.length} new or changed files took longer than ${MAX_MS / 1000} s`,
      );
    const some = paths.slice(from, from + OPEN_AT_ONCE);
    const sizes = await Promise.all(some.map((path) => sizeOf(view, join(top, path))));
    some.forEach((path, nth) => {
      const size = sizes[nth];
      const reason = unsavedReason(size, total);
      if (reason === undefined) {
        found.push(path);
        total += size!;
      } else {
        unsaved.push(path);
        missing.push(`${path}: ${reason}`);
      }
    });
  }
  if (missing.length > 10) missing.splice(10, missing.length, `${missing.length - 10} more files`);
  return { paths: found, bytes: total, unsaved };
}

/** Why a file is not saved; undefined if it is. `total`: the bytes of the other files. */
function unsavedReason(size: number | undefined, total: number): string | undefined {
  if (size === undefined) return "it cannot be read";
  if (size > MAX_FILE_BYTES) return `it is larger than ${MAX_FILE_BYTES} bytes`;
  return total + size > MAX_TOTAL_BYTES ? "too much has changed" : undefined;
}

/** The size of a file; undefined if the host may not read it. */
async function sizeOf(view: Pick<ReadableFiles, "openRead">, path: string): Promise<number | undefined> {
  try {
    const file = await view.openRead(path);
    if (file === undefined) return 0;
    try {
      return await file.size();
    } finally {
      await file.close();
    }
  } catch (cause) {
    // Git would refuse to save any file together with one that it cannot read.
    if ((cause as NodeJS.ErrnoException).code === "EACCES") return undefined;
    // For example a symlink to a folder, which git handles itself.
    return 0;
  }
}

/** Runs git on a repository with the thread's own git folder. */
export async function gitIn(
  ports: TreePorts,
  tracked: TrackedRepository,
  args: readonly string[],
  options: { readonly signal: AbortSignal; readonly input?: string; readonly maxBytes?: number },
): Promise<GitOutput> {
  const { top, config } = tracked.repository;
  const { signal, input, maxBytes = MAX_LIST_BYTES } = options;
  return runGit(ports, {
    owner: tracked.owner,
    args,
    cwd: top,
    gitDir: await ports.files.realPath(gitDirOf(tracked)),
    config,
    maxBytes,
    maxMs: MAX_MS,
    signal,
    ...(input !== undefined && { input }),
  });
}

/** Creates the thread's git folder for a repository, unless it exists. */
async function prepare(
  ports: TreePorts,
  view: Pick<ReadableFiles, "openRead" | "readText">,
  { repository }: TrackedRepository,
  gitDir: string,
): Promise<void> {
  const { files } = ports;
  // Removes a lock that a killed git run left. No other process uses this folder.
  await files.remove(join(gitDir, "index.lock"));
  const { at } = await sizeOfStore(files, gitDir);
  const isOld = at !== undefined && ports.platform.clock.now() - at > MAX_AGE_MS;
  // `HEAD` is written last, so a folder with `HEAD` is complete.
  if (!isOld && (await files.exists(join(gitDir, "HEAD")))) return;
  await files.remove(gitDir);
  ports.latestTrees.delete(gitDir);
  const { objects, excludes, index, sha256 } = repository;
  const ignored = await Promise.all(excludes.map((path) => view.readText(path).catch(() => undefined)));
  await writeNew(
    files,
    join(gitDir, "objects", "info", "alternates"),
    objects === null ? "" : `${objects}\n`,
  );
  await writeNew(files, join(gitDir, "refs", "heads", ".keep"), "");
  await writeNew(files, join(gitDir, "info", "exclude"), ignored.map((text) => `${text ?? ""}\n`).join(""));
  // Disables filters: no program of the repository may transform files.
  await writeNew(files, join(gitDir, "info", "attributes"), "* -filter !diff !merge\n");
  const format = sha256
    ? "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
    : "[core]\n\trepositoryformatversion = 0\n";
  await writeNew(files, join(gitDir, "config"), format);
  // The repository's index is copied, so that git need not read unchanged files again.
  const known = index === null ? undefined : await wholeFile(view, index);
  if (known !== undefined) await writeNew(files, join(gitDir, "index"), known);
  await writeNew(files, join(gitDir, "HEAD"), "ref: refs/heads/none\n");
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

async function writeNew(files: Files, path: string, content: string | Uint8Array): Promise<void> {
  await files.remove(path);
  const file = await files.openAppend(path, { fresh: true });
  try {
    const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content;
    if (bytes.length > 0) await file.append(bytes);
  } finally {
    await file.close();
  }
}

/** Adds to the store's size; a store that is too large is recreated with the next snapshot. */
async function addToSize({ files, platform }: TreePorts, gitDir: string, bytes: number): Promise<void> {
  const size = (await sizeOfStore(files, gitDir)).bytes + bytes;
  await writeNew(files, join(gitDir, "size"), `${size} ${platform.clock.now()}`);
  if (size > MAX_STORE_BYTES) await files.remove(join(gitDir, "HEAD"));
}

/** The approximate size of a store, and the time of its last snapshot. */
async function sizeOfStore(
  files: Files,
  gitDir: string,
): Promise<{ readonly bytes: number; readonly at: number | undefined }> {
  const text = (await files.readText(join(gitDir, "size"))) ?? "";
  const [, bytes, at] = /^(\d+) (\d+)$/.exec(text) ?? [];
  return { bytes: Number(bytes ?? 0), at: at === undefined ? undefined : Number(at) };
}

/** A path relative to a repository's top folder; undefined if it is outside. */
export function pathFrom(top: string, path: string): string | undefined {
  const inside = path.startsWith(top.endsWith(sep) ? top : top + sep);
  return inside ? relative(top, path) : undefined;
}
