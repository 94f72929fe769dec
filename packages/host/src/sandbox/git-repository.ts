import { dirname, join, resolve } from "node:path";
import type { Files } from "../platform/platform.ts";
import { isWithin } from "./access.ts";

/** The git repository of a folder. Paths are real: absolute, with symlinks resolved. */
export interface GitRepository {
  /** The folder that contains `.git`. */
  readonly worktree: string;
  /** The folder `.git`, or the folder that a file `.git` names. */
  readonly gitDir: string;
  /** The folder that all worktrees of a repository share; the same as `gitDir` for the main worktree. */
  readonly commonDir: string;
}

type RepositoryFiles = Pick<Files, "readText" | "exists" | "realPath">;

/**
 * Finds the innermost folder with `.git`, from `folder` up to one of `roots`, and its repository. `repository` is
 * undefined if the file `.git` names a repository that does not name this folder back: a
 * command that wrote the file could have named any repository.
 */
export async function findRepository(
  files: RepositoryFiles,
  folder: string,
  roots: readonly string[],
): Promise<{ readonly dotGit: string; readonly repository: GitRepository | undefined } | undefined> {
  for (let at = folder; roots.some((root) => isWithin(at, root)); at = dirname(at)) {
    const dotGit = join(at, ".git");
    if (await files.exists(dotGit)) return { dotGit, repository: await repositoryOf(files, at, dotGit) };
    if (at === "/") break;
  }
  return undefined;
}

async function repositoryOf(
  files: RepositoryFiles,
  worktree: string,
  dotGit: string,
): Promise<GitRepository | undefined> {
  // A symlink is not trusted, because anyone who can write to the folder can replace it.
  if ((await files.realPath(dotGit).catch(() => undefined)) !== dotGit) return undefined;
  const link = await textOf(files, dotGit);
  // A folder without HEAD is no repository, but for example a placeholder.
  if (link === undefined)
    return (await files.exists(join(dotGit, "HEAD")))
      ? { worktree, gitDir: dotGit, commonDir: dotGit }
      : undefined;
  const named = /^gitdir: ([^\n]+)\n*$/.exec(link)?.[1];
  if (named === undefined) return undefined;
  const gitDir = await files.realPath(resolve(worktree, named));
  return (await linkedWorktree(files, worktree, gitDir)) ?? (await submodule(files, worktree, gitDir));
}

/** A worktree of `git worktree add`. The repository has a folder for the worktree, which names it back. */
async function linkedWorktree(
  files: RepositoryFiles,
  worktree: string,
  gitDir: string,
): Promise<GitRepository | undefined> {
  const back = (await textOf(files, join(gitDir, "gitdir")))?.trim();
  const common = (await textOf(files, join(gitDir, "commondir")))?.trim();
  if (back === undefined || common === undefined) return undefined;
  const commonDir = await files.realPath(resolve(gitDir, common));
  const isOurs = (await files.realPath(resolve(gitDir, back))) === join(worktree, ".git");
  // The folder must be in the repository itself, because the text in it could name another repository.
  return isOurs && dirname(gitDir) === join(commonDir, "worktrees")
    ? { worktree, gitDir, commonDir }
    : undefined;
}

/** A submodule: its config file names the folder back. */
async function submodule(
  files: RepositoryFiles,
  worktree: string,
  gitDir: string,
): Promise<GitRepository | undefined> {
  const back = configValue((await textOf(files, join(gitDir, "config"))) ?? "", "core", "worktree");
  if (back === undefined || (await files.realPath(resolve(gitDir, back))) !== worktree) return undefined;
  return { worktree, gitDir, commonDir: gitDir };
}

/** The text of a file; undefined if it does not exist or is not a file. */
export async function textOf(files: Pick<Files, "readText">, path: string): Promise<string | undefined> {
  return files.readText(path).catch(() => undefined);
}

/** The last value of a key in a git config file. Only the syntax that git itself writes is supported. */
export function configValue(config: string, section: string, key: string): string | undefined {
  let here = false;
  let value: string | undefined;
  for (const line of config.split("\n")) {
    const head = /^\s*\[\s*([\w.-]+)\s*("[^"]*")?\s*\](.*)$/.exec(line);
    if (head !== null) here = head[1]!.toLowerCase() === section && head[2] === undefined;
    const entry = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(head === null ? line : head[3]!);
    if (here && entry !== null && entry[1]!.toLowerCase() === key.toLowerCase())
      value = entry[2]!.replace(/^"(.*)"$/, "$1").replace(/\\(["\\])/g, "$1");
  }
  return value;
}
