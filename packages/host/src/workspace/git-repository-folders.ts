import { join } from "node:path";
import { configEntries, findDotGit } from "../platform/git-repository.ts";
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

/** Finds the repository that a folder is in, from its files; undefined if there is none. */
export async function findRepository(
  view: Pick<ReadableFiles, "readText" | "exists">,
  files: Pick<Files, "realPath">,
  folder: string,
): Promise<Repository | undefined> {
  const found = await findDotGit(
    {
      readText: (path) => view.readText(path),
      exists: (path) => view.exists(path),
      realPath: (path) => files.realPath(path),
    },
    folder,
  );
  if (found === undefined) return undefined;
  const { worktree: top, repository } = found;
  const config = repository && (await view.readText(join(repository.commonDir, "config")));
  return {
    top,
    index: repository === undefined ? null : join(repository.gitDir, "index"),
    objects: repository === undefined ? null : join(repository.commonDir, "objects"),
    excludes: repository === undefined ? [] : [join(repository.commonDir, "info", "exclude")],
    config: storageOf(config ?? ""),
    sha256: /^\s*objectformat\s*=\s*sha256\s*$/im.test(config ?? ""),
  };
}

/** Settings that affect how files are stored. None of them runs a program. */
const STORAGE = ["autocrlf", "eol", "filemode", "symlinks", "ignorecase", "precomposeunicode"];

function storageOf(config: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { section, subsection, key, value } of configEntries(config))
    if (section === "core" && subsection === undefined && /^\w+$/.test(value))
      if (STORAGE.includes(key.toLowerCase())) found[`core.${key.toLowerCase()}`] = value;
  return found;
}
