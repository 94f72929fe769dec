import { join, resolve } from "node:path";
import { upwards } from "./parent-folders.ts";
import type { ReadableFiles } from "./platform.ts";

type RepositoryFiles = Pick<ReadableFiles, "exists" | "readText">;

/**
 * Whether git takes a folder for the top of a repository: its `.git` has a HEAD, or is a file that names a folder with
 * one. A mere `.git` is no repository. The sandbox of the Codex CLI leaves empty ones behind, also in `/tmp`.
 */
export async function isRepositoryRoot(files: RepositoryFiles, folder: string): Promise<boolean> {
  const git = join(folder, ".git");
  try {
    if (!(await files.exists(git))) return false;
    if (await files.exists(join(git, "HEAD"))) return true;
    const named = /^gitdir: (.+)$/m.exec((await files.readText(git)) ?? "")?.[1];
    return named !== undefined && (await files.exists(join(resolve(folder, named), "HEAD")));
  } catch {
    // A folder that cannot be read counts as one without a repository.
    return false;
  }
}

/** The folders from the top of the repository down to `cwd`; undefined if `cwd` is in no repository. */
export async function foldersFromRepositoryRoot(
  files: RepositoryFiles,
  cwd: string,
): Promise<readonly string[] | undefined> {
  const passed: string[] = [];
  for (const folder of upwards(cwd)) {
    passed.push(folder);
    if (await isRepositoryRoot(files, folder)) return passed.reverse();
  }
  return undefined;
}
