import { join, resolve } from "node:path";
import type { GitInfo } from "@bobbin/protocol";
import type { NotedFiles } from "../platform/file-read-cache.ts";
import { findDotGit, textOf } from "../platform/git-repository.ts";
import type { Files } from "../platform/platform.ts";

/** Commit, branch and origin of the repository around a folder, read from the files in `.git`. No program is run. */
export async function readGitInfo(files: NotedFiles, cwd: string): Promise<GitInfo | null> {
  try {
    const gitDir = (await findDotGit(files, cwd))?.head;
    if (gitDir === undefined) return null;
    // A worktree has its own HEAD, and shares everything else with the repository.
    const common = (await textOf(files, join(gitDir, "commondir")))?.trim() ?? ".";
    const commonDir = resolve(gitDir, common);
    const head = (await files.readText(join(gitDir, "HEAD")))?.trim();
    if (head === undefined) return null;
    const ref = /^ref: (.+)$/.exec(head)?.[1];
    const sha = ref === undefined ? head : await resolveRef(files, new Set([gitDir, commonDir]), ref);
    return {
      // A text that is no commit ID is left out: a reference may be a symlink to any other file.
      sha: sha !== undefined && /^[0-9a-f]{40,64}$/.test(sha) ? sha : null,
      branch: ref?.replace(/^refs\/heads\//, "") ?? null,
      originUrl: originOf((await files.readText(join(commonDir, "config"))) ?? ""),
    };
  } catch {
    // The repository's files may be invalid in any way. The thread then has no git info.
    return null;
  }
}

async function resolveRef(
  files: Pick<Files, "readText">,
  folders: Iterable<string>,
  ref: string,
): Promise<string | undefined> {
  if (ref.split("/").includes("..")) return undefined;
  for (const folder of folders) {
    const sha = (await files.readText(join(folder, ref)))?.trim();
    if (sha !== undefined) return sha;
    const packed = (await files.readText(join(folder, "packed-refs"))) ?? "";
    const line = packed.split("\n").find((one) => one.endsWith(` ${ref}`));
    if (line !== undefined) return line.split(" ")[0];
  }
  return undefined;
}

function originOf(config: string): string | null {
  const section = /^\[remote "origin"\]\s*$([\s\S]*?)(?=^\[|(?![\s\S]))/m.exec(config)?.[1] ?? "";
  const url = /^\s*url\s*=\s*(.+?)\s*$/m.exec(section)?.[1];
  // Journals and clients must not get the user's password or token.
  return url?.replace(/^(https?:\/\/)[^/]*@/i, "$1") ?? null;
}
