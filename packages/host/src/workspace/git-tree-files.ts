import { IgnoreRules } from "../search/ignore-rules.ts";
import { GitError } from "./run-git.ts";
import {
  entriesOf,
  gitIn,
  placeholderId,
  type TrackedRepository,
  type TreeEntry,
  type TreePorts,
} from "./tree-snapshots.ts";

/** The mode of files that were not saved. */
export const UNSAVED_MODE = "unsaved";

const MAX_LIST_BYTES = 16 * 1024 * 1024;
/** Limit on the bytes of a file. Larger files are not restored. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** The paths that differ between two trees, relative to the top folder. */
export async function changedPaths(
  ports: TreePorts,
  tracked: TrackedRepository,
  before: string,
  after: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (before === after) return [];
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", before, after];
  const { stdout, cut } = await gitIn(ports, tracked, args, { signal, maxBytes: MAX_LIST_BYTES });
  if (cut) throw new GitError("too many files have changed");
  return stdout.toString("utf8").split("\0").filter(Boolean);
}

/** All files of a tree by their paths relative to the top folder. */
export async function treeEntries(
  ports: TreePorts,
  tracked: TrackedRepository,
  tree: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TreeEntry>> {
  const args = ["ls-tree", "-r", "-z", tree];
  const { stdout, cut } = await gitIn(ports, tracked, args, { signal, maxBytes: 4 * MAX_LIST_BYTES });
  if (cut) throw new GitError("there are too many files");
  const id = placeholderId(tracked);
  const entries = [...entriesOf(stdout)];
  return new Map(
    entries.map(([path, entry]) => [path, entry.id === id ? { ...entry, mode: UNSAVED_MODE } : entry]),
  );
}

/**
 * The function that says whether git ignored a path in a tree, by those `.gitignore` files of the tree that are in
 * `changed`. Untracked files that they ignored can appear in later trees without being new.
 */
export async function ignoredIn(
  ports: TreePorts,
  tracked: TrackedRepository,
  { tree, entries }: { readonly tree: string; readonly entries: ReadonlyMap<string, TreeEntry> },
  changed: readonly string[],
  signal: AbortSignal,
): Promise<(path: string) => boolean> {
  const files: { readonly folder: string; readonly rules: IgnoreRules }[] = [];
  for (const path of changed) {
    if (!/(^|\/)\.gitignore$/.test(path) || entries.get(path)?.mode.startsWith("100") !== true) continue;
    const text = (await contentOf(ports, tracked, tree, path, signal)).toString("utf8");
    files.push({ folder: path.slice(0, -".gitignore".length), rules: new IgnoreRules(text) });
  }
  return (path) =>
    files.some(({ folder, rules }) => path.startsWith(folder) && isIgnored(rules, path.slice(folder.length)));
}

/** Whether rules ignore a path or one of the folders that it is in. */
function isIgnored(rules: IgnoreRules, path: string): boolean {
  const names = path.split("/");
  return names.some((name, nth) => {
    const isFolder = nth < names.length - 1;
    return rules.verdict(names.slice(0, nth + 1).join("/"), name, isFolder) === "ignored";
  });
}

/** The content of a file as git would check it out: with the configured line ends, and without running any program. */
export async function contentOf(
  ports: TreePorts,
  tracked: TrackedRepository,
  tree: string,
  path: string,
  signal: AbortSignal,
): Promise<Buffer> {
  const args = ["cat-file", "--filters", `${tree}:${path}`];
  const { stdout, cut } = await gitIn(ports, tracked, args, { signal, maxBytes: MAX_FILE_BYTES });
  if (cut) throw new GitError(`it is larger than ${MAX_FILE_BYTES} bytes`);
  if (stdout.subarray(0, LFS_POINTER.length).equals(LFS_POINTER))
    throw new GitError("its content is stored by Git LFS, and was not saved");
  return stdout;
}

const LFS_POINTER = Buffer.from("version https://git-lfs.github.com/spec/");
