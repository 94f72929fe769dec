import { isAbsolute, join, resolve } from "node:path";
import type { GitInfo } from "@bobbin/protocol";
import type { Files } from "../platform/platform.ts";
import { upwards } from "../platform/upwards.ts";

/** Commit, branch and origin of the repository around a folder, read from the files in `.git`: nothing is run. */
export async function readGitInfo(
  files: Pick<Files, "readText" | "exists">,
  cwd: string,
): Promise<GitInfo | null> {
  try {
    const found = await gitFolder(files, cwd);
    if (found === undefined) return null;
    const { path, linked } = found;
    const head = (await files.readText(join(path, "HEAD")))?.trim();
    if (head === undefined) return null;
    // A worktree keeps its HEAD to itself and shares the rest.
    const common = linked ? (await files.readText(join(path, "commondir")))?.trim() : undefined;
    const shared = common === undefined ? path : resolve(path, common);
    const ref = /^ref: (.+)$/.exec(head)?.[1];
    const sha = ref === undefined ? head : await resolveRef(files, new Set([path, shared]), ref);
    return {
      sha: sha ?? null,
      branch: ref?.replace(/^refs\/heads\//, "") ?? null,
      originUrl: originOf((await files.readText(join(shared, "config"))) ?? ""),
    };
  } catch {
    // Someone else's files: whatever is wrong with them, the thread goes on without.
    return null;
  }
}

async function gitFolder(
  files: Pick<Files, "readText" | "exists">,
  cwd: string,
): Promise<{ readonly path: string; readonly linked: boolean } | undefined> {
  for (const folder of upwards(cwd)) {
    const git = join(folder, ".git");
    if (await files.exists(git)) {
      if (await files.exists(join(git, "HEAD"))) return { path: git, linked: false };
      // A worktree or submodule: a file that says where the folder is.
      const target = /^gitdir: (.+)$/m.exec((await files.readText(git)) ?? "")?.[1];
      if (target !== undefined)
        return { path: isAbsolute(target) ? target : resolve(folder, target), linked: true };
    }
  }
  return undefined;
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
  return /^\s*url\s*=\s*(.+?)\s*$/m.exec(section)?.[1] ?? null;
}
