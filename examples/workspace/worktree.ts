import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, lstat, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { ToolError } from "@bobbin/rap";

const run = promisify(execFile);

/** Author and committer of the commits that save uncommitted work. */
const SAVED_BY = {
  GIT_AUTHOR_NAME: "workspace server",
  GIT_AUTHOR_EMAIL: "workspace@localhost",
  GIT_COMMITTER_NAME: "workspace server",
  GIT_COMMITTER_EMAIL: "workspace@localhost",
};

export async function git(folder: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, ...SAVED_BY, GIT_TERMINAL_PROMPT: "0" };
  const { stdout } = await run("git", args, { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

/** Path of a thread's worktree, which is created if it does not exist. */
export async function openTree(repository: string, folder: string): Promise<string> {
  const tree = join(folder, "tree");
  if (!(await isTree(tree))) {
    // An interrupted creation may have left an entry in the repository.
    await git(repository, "worktree", "prune");
    await git(repository, "worktree", "add", "--force", "--detach", tree, "HEAD");
  }
  return tree;
}

const isTree = (tree: string): Promise<boolean> =>
  access(join(tree, ".git")).then(
    () => true,
    () => false,
  );

/** Diff of the worktree against its HEAD, including new files. */
export async function changes(tree: string): Promise<string> {
  await git(tree, "add", "--all", "--intent-to-add");
  return git(tree, "diff", "HEAD");
}

/**
 * Removes a worktree. Saves work that is in no branch as a commit under refs/kept/, and returns the name of that ref.
 */
export async function closeTree(
  repository: string,
  folder: string,
  thread: string,
): Promise<string | undefined> {
  const tree = join(folder, "tree");
  if (!(await isTree(tree))) return undefined;
  // The thread's id comes from the host and may contain anything, so it is hashed for the ref name.
  const name = `${createHash("sha256").update(thread).digest("hex").slice(0, 12)}-${Date.now()}`;
  const kept = await keep(tree, thread, `refs/kept/${name}`);
  await git(repository, "worktree", "remove", "--force", tree);
  return kept;
}

async function keep(tree: string, thread: string, ref: string): Promise<string | undefined> {
  await git(tree, "add", "--all");
  const [files, head] = [await git(tree, "write-tree"), await git(tree, "rev-parse", "HEAD")];
  const same = files === (await git(tree, "rev-parse", "HEAD^{tree}"));
  const branched = (await git(tree, "for-each-ref", "--count=1", "--contains", "HEAD", "refs/heads")) !== "";
  if (same && branched) return undefined;
  const message = `Kept from thread ${JSON.stringify(thread)}`;
  const commit = same ? head : await git(tree, "commit-tree", files.trim(), "-p", "HEAD", "-m", message);
  await git(tree, "update-ref", ref, commit.trim());
  return ref;
}

/** Resolves a path within the worktree. Throws if it leads outside, also through symlinks. */
export async function inside(tree: string, path: string): Promise<string> {
  const wanted = resolve(tree, path);
  if (path.includes("\0") || isAbsolute(path) || !isBelow(tree, wanted))
    throw new ToolError("The path must be relative and inside the workspace.");
  // Resolves symlinks in the deepest existing part of the path: the rest would be created below it.
  let there = wanted;
  while (!(await lstat(there).catch(() => undefined))) there = dirname(there);
  const real = await realpath(there).catch(() => undefined);
  if (real === undefined || !isBelow(await realpath(tree), real, true))
    throw new ToolError("The path leads out of the workspace.");
  if (relative(tree, wanted).split(sep)[0] === ".git")
    throw new ToolError("The .git file must not be read or changed.");
  return wanted;
}

function isBelow(folder: string, path: string, orSame = false): boolean {
  const way = relative(folder, path);
  if (way === "") return orSame;
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
