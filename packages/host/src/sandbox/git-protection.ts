import { isAbsolute, join, resolve } from "node:path";
import type { Files } from "../platform/platform.ts";
import { configValue, type GitRepository, textOf } from "./git-repository.ts";
import type { Mask } from "./masks.ts";

/** What a git command may not change, since git runs code that it names. */
export interface GitProtection {
  readonly repository: GitRepository;
  /** Files and folders that exist, or that a mask makes exist. */
  readonly paths: readonly string[];
  /** Files that should not exist afterwards, either, if they did not before. */
  readonly absent: readonly string[];
  /** Files that must not come to exist. */
  readonly masks: readonly Mask[];
}

/** More submodules and worktrees than this are not looked at one by one. */
const MOST_FOLDERS = 64;
const DEEPEST = 4;

/** Git reads it as "the repository itself": what is the case without the file. The empty lines tell it from one of git's. */
const COMMON_DIR = ".\n\n\n\n";
/** A comment in a configuration; in place of the folder `hooks` it means that there are none. */
const PLACEHOLDER = "# Here while a confined git command runs.\n";

type ProtectionFiles = Pick<Files, "readText" | "exists" | "list">;

/** All of a repository that decides which programs git runs: in it, in its submodules and in its other worktrees. */
export async function protectionOf(
  files: ProtectionFiles,
  repository: GitRepository,
  userHome: string,
): Promise<GitProtection> {
  const { gitDir, commonDir } = repository;
  const [modules, worktrees] = await Promise.all([
    foldersBelow(files, join(commonDir, "modules")),
    files.list(join(commonDir, "worktrees")),
  ]);
  const others = worktrees
    .filter(({ folder }) => folder)
    .map(({ name }) => join(commonDir, "worktrees", name));
  const parts =
    modules === undefined || others.length > MOST_FOLDERS
      ? undefined
      : await Promise.all([
          ...[commonDir, ...modules].map((folder) => ofGitDir(files, folder)),
          ...[...new Set([...others, ...(gitDir === commonDir ? [] : [gitDir])])].map((folder) =>
            ofWorktree(files, folder),
          ),
        ]);
  // Too many to look at: then they cannot be changed at all.
  const all = parts ?? [
    await ofGitDir(files, commonDir),
    { paths: ["modules", "worktrees"].map((name) => join(commonDir, name)), absent: [], masks: [] },
  ];
  const hooks = await hooksPath(files, repository, userHome);
  return {
    repository,
    paths: [
      ...all.flatMap(({ paths }) => paths),
      ...(hooks !== undefined && (await files.exists(hooks)) ? [hooks] : []),
    ],
    absent: all.flatMap(({ absent }) => absent),
    masks: all.flatMap(({ masks }) => masks),
  };
}

type Part = Pick<GitProtection, "paths" | "absent" | "masks">;

/** One folder with a repository in it. */
async function ofGitDir(files: ProtectionFiles, folder: string): Promise<Part> {
  const config = (await textOf(files, join(folder, "config"))) ?? "";
  const perWorktree = configValue(config, "extensions", "worktreeConfig")?.toLowerCase() === "true";
  return split(files, [
    { path: join(folder, "config") },
    { path: join(folder, "hooks"), mask: PLACEHOLDER },
    { path: join(folder, "commondir"), mask: COMMON_DIR },
    { path: join(folder, "config.worktree"), ...(perWorktree ? { mask: PLACEHOLDER } : {}) },
    { path: join(folder, "info", "attributes") },
  ]);
}

/** What a repository has for one of its other worktrees. */
function ofWorktree(files: ProtectionFiles, folder: string): Promise<Part> {
  return split(files, [{ path: join(folder, "commondir") }, { path: join(folder, "config.worktree") }]);
}

/** Those that exist, apart from those that are to be masked. A mask that is there already is one of both. */
async function split(
  files: ProtectionFiles,
  wanted: readonly { readonly path: string; readonly mask?: string }[],
): Promise<Part> {
  const found = await Promise.all(
    wanted.map(async ({ path, mask }) => {
      const exists = await files.exists(path);
      const isMask = exists && mask !== undefined && (await textOf(files, path)) === mask;
      return { path, exists, mask: exists && !isMask ? undefined : mask };
    }),
  );
  const [present, absent] = [
    found.filter(({ exists, mask }) => exists || mask !== undefined),
    found.filter(({ exists, mask }) => !exists && mask === undefined),
  ];
  return {
    paths: present.map(({ path }) => path),
    absent: absent.map(({ path }) => path),
    masks: found.flatMap(({ path, mask }) => (mask === undefined ? [] : [{ path, text: mask }])),
  };
}

/** Repositories of submodules, whose names may have slashes; undefined if there are too many. */
async function foldersBelow(
  files: ProtectionFiles,
  folder: string,
  depth = 0,
): Promise<readonly string[] | undefined> {
  const below = (await files.list(folder))
    .filter((entry) => entry.folder)
    .map(({ name }) => join(folder, name));
  if (below.length === 0) return [];
  if (below.length > MOST_FOLDERS || depth > DEEPEST) return undefined;
  const found: string[] = [];
  for (const one of below) {
    const isRepository = await files.exists(join(one, "HEAD"));
    const more = await foldersBelow(files, isRepository ? join(one, "modules") : one, depth + 1);
    if (more === undefined) return undefined;
    found.push(...(isRepository ? [one] : []), ...more);
    if (found.length > MOST_FOLDERS) return undefined;
  }
  return found;
}

/** The folder of hooks that a configuration names in place of `hooks`. */
async function hooksPath(
  files: ProtectionFiles,
  { worktree, gitDir, commonDir }: GitRepository,
  userHome: string,
): Promise<string | undefined> {
  const configs = [
    join(gitDir, "config.worktree"),
    join(commonDir, "config"),
    join(userHome, ".gitconfig"),
    join(userHome, ".config", "git", "config"),
  ];
  for (const path of configs) {
    const named = configValue((await textOf(files, path)) ?? "", "core", "hooksPath");
    if (named === undefined || named === "") continue;
    const expanded = named.replace(/^~\//, `${userHome}/`);
    return isAbsolute(expanded) ? resolve(expanded) : resolve(worktree, expanded);
  }
  return undefined;
}
