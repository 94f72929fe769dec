import { join, resolve } from "node:path";
import { foldersFromRepositoryRoot } from "../platform/git-repository.ts";
import type { Files } from "../platform/platform.ts";

/** Where to look for things to import: the user's home, or one repository. */
export type Scope = { readonly kind: "home" } | { readonly kind: "repository"; readonly root: string };

export const HOME: Scope = { kind: "home" };

/** Paths in a repository that an import writes to. */
const WRITTEN = [
  ".codex",
  ".codex/config.toml",
  ".codex/agents",
  ".codex/hooks",
  ".codex/hooks.json",
  ".agents",
  ".agents/skills",
  "AGENTS.md",
];

/**
 * Returns the scope of a working directory: its repository, or the directory itself if it is in none; without a
 * directory, the home. Undefined if the directory is missing, or if one of the written paths contains a symlink: a
 * repository from someone else must not redirect an import to other files of the user.
 */
export async function scopeOf(
  files: Pick<Files, "exists" | "readText" | "realPath">,
  cwd: string | null | undefined,
): Promise<Scope | undefined> {
  if (cwd == null || cwd === "") return HOME;
  const folder = resolve(cwd);
  if (!(await files.exists(folder))) return undefined;
  const root = (await foldersFromRepositoryRoot(files, folder))?.[0] ?? folder;
  const real = await files.realPath(root);
  for (const name of WRITTEN)
    if ((await files.realPath(join(root, name))) !== join(real, name)) return undefined;
  return { kind: "repository", root };
}

/** The scope in the shape of the protocol, where null is the home. */
export function cwdOf(scope: Scope): string | null {
  return scope.kind === "home" ? null : scope.root;
}
