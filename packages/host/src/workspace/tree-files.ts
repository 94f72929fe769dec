import { GitError } from "./git.ts";
import { gitIn, type TrackedRepository, type TreePorts } from "./working-trees.ts";

/** A file in a tree. */
export interface TreeEntry {
  readonly mode: string;
  readonly id: string;
}

const MAX_LIST_BYTES = 16 * 1024 * 1024;
/** A larger file is not restored. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** The paths that differ between two trees, from the top. */
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

/** All files of a tree, by their paths from the top. */
export async function treeEntries(
  ports: TreePorts,
  tracked: TrackedRepository,
  tree: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TreeEntry>> {
  const args = ["ls-tree", "-r", "-z", tree];
  const { stdout, cut } = await gitIn(ports, tracked, args, { signal, maxBytes: 4 * MAX_LIST_BYTES });
  if (cut) throw new GitError("there are too many files");
  const entries = new Map<string, TreeEntry>();
  for (const line of stdout.toString("utf8").split("\0")) {
    const [, mode, id, path] = /^(\d+) \w+ (\w+)\t([\s\S]+)$/.exec(line) ?? [];
    if (path !== undefined) entries.set(path, { mode: mode!, id: id! });
  }
  return entries;
}

/** The content of a file as git would check it out: with its line ends, and without running anything. */
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
    throw new GitError("its content is kept by Git LFS, and was not saved");
  return stdout;
}

const LFS_POINTER = Buffer.from("version https://git-lfs.github.com/spec/");
