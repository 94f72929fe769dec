import { join, resolve } from "node:path";
import { upwards } from "../platform/parent-folders.ts";
import type { Files, ReadableFiles } from "../platform/platform.ts";

/** The git repository that a folder is in. */
export interface Repository {
  /** The top folder of the working tree, as a real path. */
  readonly top: string;
  /**
   * The index and the object folder. Null if the file `.git` names a repository that does not name this folder back,
   * and so is not trusted.
   */
  readonly index: string | null;
  readonly objects: string | null;
  /** Ignore files besides `.gitignore`. */
  readonly excludes: readonly string[];
  /** Settings on how files are stored: line ends, modes. */
  readonly config: Readonly<Record<string, string>>;
  readonly sha256: boolean;
}

type RepositoryFiles = Pick<ReadableFiles, "readText" | "exists">;

/** Finds the repository that a folder is in, from its files; undefined if there is none. */
export async function findRepository(
  files: RepositoryFiles,
  { realPath }: Pick<Files, "realPath">,
  folder: string,
): Promise<Repository | undefined> {
  for (const top of upwards(folder)) {
    const git = join(top, ".git");
    if (!(await files.exists(git))) continue;
    // For git, an empty `.git` folder is no repository, either. The sandbox of the Codex CLI leaves such folders
    // behind.
    if ((await files.exists(`${git}/.`)) && !(await files.exists(join(git, "HEAD")))) continue;
    const found = await gitFolders(files, realPath, top, git);
    const config = found && (await files.readText(join(found.common, "config")));
    return {
      top,
      index: found === undefined ? null : join(found.own, "index"),
      objects: found === undefined ? null : join(found.common, "objects"),
      excludes: found === undefined ? [] : [join(found.common, "info", "exclude")],
      config: storageOf(config ?? ""),
      sha256: /^\s*objectformat\s*=\s*sha256\s*$/im.test(config ?? ""),
    };
  }
  return undefined;
}

interface GitFolders {
  readonly own: string;
  readonly common: string;
}

/** The git folders of a repository. A file `.git` could name any folder, so that folder must name it back. */
async function gitFolders(
  files: RepositoryFiles,
  realPath: Files["realPath"],
  top: string,
  git: string,
): Promise<GitFolders | undefined> {
  if (await files.exists(join(git, "HEAD"))) {
    // Git does not create a `.git` folder with `commondir`, and the file could name any folder.
    return (await files.exists(join(git, "commondir"))) ? undefined : { own: git, common: git };
  }
  const target = /^gitdir: (.+)$/m.exec((await files.readText(git).catch(() => undefined)) ?? "")?.[1];
  if (target === undefined) return undefined;
  const own = await realPath(resolve(top, target));
  const back = (await files.readText(join(own, "gitdir")))?.trim();
  if (back !== undefined) {
    if ((await realPath(resolve(own, back))) !== (await realPath(git))) return undefined;
    const common = (await files.readText(join(own, "commondir")))?.trim();
    return common === undefined ? undefined : { own, common: await realPath(resolve(own, common)) };
  }
  const config = (await files.readText(join(own, "config"))) ?? "";
  const worktree = /^\s*worktree\s*=\s*(.+?)\s*$/m.exec(config)?.[1];
  if (worktree === undefined || (await realPath(resolve(own, worktree))) !== top) return undefined;
  return { own, common: own };
}

/** Settings that affect how files are stored. None of them runs a program. */
const STORAGE = /^\s*(autocrlf|eol|filemode|symlinks|ignorecase|precomposeunicode)\s*=\s*(\w+)\s*$/gim;

function storageOf(config: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [, section, body] of config.matchAll(/^\s*\[([^\]]+)\]\s*$([\s\S]*?)(?=^\s*\[|(?![\s\S]))/gm)) {
    if (section!.trim().toLowerCase() !== "core") continue;
    for (const [, key, value] of body!.matchAll(STORAGE)) found[`core.${key!.toLowerCase()}`] = value!;
  }
  return found;
}
