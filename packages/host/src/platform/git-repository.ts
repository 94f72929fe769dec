import { dirname, join, resolve } from "node:path";
import { upwards } from "./parent-folders.ts";
import type { Files } from "./platform.ts";

/** The git repository of a folder. */
export interface GitRepository {
  /** The folder that contains `.git`. */
  readonly worktree: string;
  /** The folder `.git`, or the real path of the folder that a file `.git` names. */
  readonly gitDir: string;
  /** The folder that all worktrees of a repository share; the same as `gitDir` for the main worktree. */
  readonly commonDir: string;
}

/** A `.git` that claims to be a repository, or to name one. */
export interface DotGit {
  /** The folder that contains `.git`. */
  readonly worktree: string;
  /**
   * The folder with the repository's HEAD, as git finds it; undefined if there is none. A file `.git` may name any
   * folder, so it is not proven that it belongs to this one.
   */
  readonly head: string | undefined;
  /**
   * The repository. Undefined if `.git` names one that cannot be read, or that does not name this folder back: the
   * author of the file could have named any repository.
   */
  readonly repository: GitRepository | undefined;
}

/** What reading a repository needs. Without `realPath`, symlinks are not resolved. */
type RepositoryFiles = Pick<Files, "readText" | "exists"> & Partial<Pick<Files, "realPath">>;

/**
 * Reads the `.git` of a folder; undefined if there is none. A mere folder `.git` is none: the sandbox of the Codex CLI
 * leaves empty ones behind, also in `/tmp`. No program is run.
 */
export async function readDotGit(files: RepositoryFiles, worktree: string): Promise<DotGit | undefined> {
  const dotGit = join(worktree, ".git");
  try {
    if (!(await files.exists(dotGit))) return undefined;
    if (await files.exists(join(dotGit, "HEAD"))) {
      // Git creates no `commondir` in a folder `.git`, and the file could name any folder.
      const common = (await textOf(files, join(dotGit, "commondir")))?.trim() ?? ".";
      const repository = common === "." ? { worktree, gitDir: dotGit, commonDir: dotGit } : undefined;
      return { worktree, head: dotGit, repository };
    }
    const named = /^gitdir: ([^\n]+)\n*$/.exec((await textOf(files, dotGit)) ?? "")?.[1];
    if (named === undefined) return undefined;
    const gitDir = await realPathOf(files, resolve(worktree, named));
    if (!(await files.exists(join(gitDir, "HEAD"))))
      return { worktree, head: undefined, repository: undefined };
    const repository =
      (await linkedWorktree(files, worktree, gitDir)) ?? (await submodule(files, worktree, gitDir));
    return { worktree, head: gitDir, repository };
  } catch {
    // A folder that cannot be read counts as one without a repository.
    return undefined;
  }
}

/** The innermost `.git` of a folder and those above it; undefined if there is none. */
export async function findDotGit(
  files: RepositoryFiles,
  folder: string,
  folders = upwards(folder),
): Promise<DotGit | undefined> {
  for (const one of folders) {
    const found = await readDotGit(files, one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The folders from the top of the repository down to `cwd`; undefined if `cwd` is in no repository. */
export async function foldersFromRepositoryRoot(
  files: RepositoryFiles,
  cwd: string,
): Promise<readonly string[] | undefined> {
  const folders = upwards(cwd);
  for (const [nth, folder] of folders.entries())
    if ((await readDotGit(files, folder))?.head !== undefined) return folders.slice(0, nth + 1).reverse();
  return undefined;
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
  const commonDir = await realPathOf(files, resolve(gitDir, common));
  const isOurs =
    (await realPathOf(files, resolve(gitDir, back))) === (await realPathOf(files, join(worktree, ".git")));
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
  if (back === undefined) return undefined;
  const isOurs = (await realPathOf(files, resolve(gitDir, back))) === (await realPathOf(files, worktree));
  return isOurs ? { worktree, gitDir, commonDir: gitDir } : undefined;
}

async function realPathOf(files: RepositoryFiles, path: string): Promise<string> {
  return (await files.realPath?.(path)) ?? path;
}

/** The text of a file; undefined if it does not exist or is not a file. */
export async function textOf(files: Pick<Files, "readText">, path: string): Promise<string | undefined> {
  return files.readText(path).catch(() => undefined);
}

/** The last value of a key in a git config file. Only the syntax that git itself writes is supported. */
export function configValue(config: string, section: string, key: string): string | undefined {
  return configEntries(config).findLast(
    (one) =>
      one.section === section && one.subsection === undefined && one.key.toLowerCase() === key.toLowerCase(),
  )?.value;
}

/** Limits on a config file and its lines. Git itself writes no longer ones; they would cost much time to match. */
const MAX_CONFIG = 1024 * 1024;
const MAX_LINE = 8192;

/** The entries of a git config file. Section names are in lower case. */
export function configEntries(config: string): readonly {
  readonly section: string;
  readonly subsection: string | undefined;
  readonly key: string;
  readonly value: string;
}[] {
  let section = "";
  let subsection: string | undefined;
  if (config.length > MAX_CONFIG) return [];
  return config.split("\n").flatMap((line) => {
    if (line.length > MAX_LINE) return [];
    const head = /^\s*\[\s*([\w.-]+)\s*("(?:[^"\\]|\\.)*")?\s*\](.*)$/.exec(line);
    if (head !== null) [section, subsection] = [head[1]!.toLowerCase(), head[2]];
    const entry = /^\s*([\w-]+)\s*=(.*)$/.exec(head === null ? line : head[3]!);
    return entry === null ? [] : [{ section, subsection, key: entry[1]!, value: parsedValue(entry[2]!) }];
  });
}

/** A value without its comment, quotes and escapes. */
function parsedValue(text: string): string {
  let value = "";
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const one = text[at]!;
    if (one === '"') isQuoted = !isQuoted;
    else if (one === "\\") value += ESCAPES[text[++at] ?? ""] ?? text[at] ?? "";
    else if (!isQuoted && (one === "#" || one === ";")) break;
    else value += one;
  }
  return value.trim();
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };
