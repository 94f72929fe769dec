import { join, resolve } from "node:path";
import type { Files, ReadableFiles } from "../platform/platform.ts";
import { upwards } from "../platform/upwards.ts";

/** A repository around a folder, as far as it belongs to that folder. */
export interface Repository {
  /** The top of the working tree, as a real path. */
  readonly top: string;
  /** Null where `.git` leads somewhere that does not lead back: then nothing of it is used. */
  readonly index: string | null;
  readonly objects: string | null;
  /** Files whose patterns are ignored, besides `.gitignore`. */
  readonly excludes: readonly string[];
  /** How its files are stored: line ends, modes. */
  readonly config: Readonly<Record<string, string>>;
  readonly sha256: boolean;
}

type RepositoryFiles = Pick<ReadableFiles, "readText" | "exists">;

/** The repository around a folder, read from its files; undefined if there is none. */
export async function findRepository(
  files: RepositoryFiles,
  { realPath }: Pick<Files, "realPath">,
  folder: string,
): Promise<Repository | undefined> {
  for (const top of upwards(folder)) {
    const git = join(top, ".git");
    if (!(await files.exists(git))) continue;
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

/** Where a repository keeps its things. A file `.git` could name any folder: it has to be one that names it back. */
async function gitFolders(
  files: RepositoryFiles,
  realPath: Files["realPath"],
  top: string,
  git: string,
): Promise<GitFolders | undefined> {
  if (await files.exists(join(git, "HEAD"))) {
    // One that shares another's objects is none that git makes here, and could name any folder.
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

/** Settings that say how files are stored, and run nothing. */
const STORAGE = /^\s*(autocrlf|eol|filemode|symlinks|ignorecase|precomposeunicode)\s*=\s*(\w+)\s*$/gim;

function storageOf(config: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [, section, body] of config.matchAll(/^\s*\[([^\]]+)\]\s*$([\s\S]*?)(?=^\s*\[|(?![\s\S]))/gm)) {
    if (section!.trim().toLowerCase() !== "core") continue;
    for (const [, key, value] of body!.matchAll(STORAGE)) found[`core.${key!.toLowerCase()}`] = value!;
  }
  return found;
}
