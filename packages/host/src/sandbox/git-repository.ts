import { dirname, join, resolve } from "node:path";
import type { Files } from "../platform/platform.ts";
import { isWithin } from "./access.ts";

/** A repository that belongs to a folder. Paths are real. */
export interface GitRepository {
  /** The folder that has `.git`. */
  readonly worktree: string;
  /** `.git` itself, or what the file of that name leads to. */
  readonly gitDir: string;
  /** What all worktrees of a repository share; the same as `gitDir` for the first of them. */
  readonly commonDir: string;
}

type RepositoryFiles = Pick<Files, "readText" | "exists" | "realPath">;

/**
 * The innermost folder with `.git` from `folder` up to one of `roots`, and its repository. That is undefined if `.git`
 * leads to a repository which does not lead back: whoever wrote the file could have named any.
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
  // A link can be exchanged by whoever may write to the folder: it names nothing that can be relied on.
  if ((await files.realPath(dotGit).catch(() => undefined)) !== dotGit) return undefined;
  const link = await textOf(files, dotGit);
  if (link === undefined) return { worktree, gitDir: dotGit, commonDir: dotGit };
  const named = /^gitdir: ([^\n]+)\n*$/.exec(link)?.[1];
  if (named === undefined) return undefined;
  const gitDir = await files.realPath(resolve(worktree, named));
  return (await linkedWorktree(files, worktree, gitDir)) ?? (await submodule(files, worktree, gitDir));
}

/** `git worktree add`: the repository has a folder for the worktree, which names it. */
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
  // The repository itself has to have that folder: the text in it could name another repository.
  return isOurs && dirname(gitDir) === join(commonDir, "worktrees")
    ? { worktree, gitDir, commonDir }
    : undefined;
}

/** A submodule: its configuration names the folder. */
async function submodule(
  files: RepositoryFiles,
  worktree: string,
  gitDir: string,
): Promise<GitRepository | undefined> {
  const back = configValue((await textOf(files, join(gitDir, "config"))) ?? "", "core", "worktree");
  if (back === undefined || (await files.realPath(resolve(gitDir, back))) !== worktree) return undefined;
  return { worktree, gitDir, commonDir: gitDir };
}

/** A file's text; undefined for what is not there or not a file. */
export async function textOf(files: Pick<Files, "readText">, path: string): Promise<string | undefined> {
  return files.readText(path).catch(() => undefined);
}

/** The last value of a key in a configuration file of git. Of its syntax, what git itself writes is read. */
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
