import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { configEntries, configValue, type GitRepository, textOf } from "../platform/git-repository.ts";
import type { Files } from "../platform/platform.ts";
import type { Placeholder } from "./placeholder-files.ts";

/** The paths that a git command must not change, because they decide which programs git runs. */
export interface GitProtection {
  readonly repository: GitRepository;
  /** Files and folders that exist, or that a placeholder file makes exist. */
  readonly paths: readonly string[];
  /** Files that do not exist now and must not exist after the command. */
  readonly absent: readonly string[];
  /** Placeholder files to create, so that the command cannot create a file there. */
  readonly placeholders: readonly Placeholder[];
}

/** With more submodules or worktrees than this, their folders are protected as a whole. */
const MAX_FOLDERS = 64;
const MAX_DEPTH = 4;

/**
 * Content of a placeholder for `commondir`. Git reads it as "this repository itself", which is also the meaning of a
 * missing file. The empty lines distinguish a placeholder from a file that git wrote.
 */
const COMMON_DIR = ".\n\n\n\n";
/**
 * Content of other placeholders. In a config file, it is a comment. As a file in place of the folder `hooks`, it means
 * that there are no hooks.
 */
export const OTHER_CONTENT = "# Here while a confined git command runs.\n";

type ProtectionFiles = Pick<Files, "readText" | "exists" | "list">;

/** Finds everything in a repository, its submodules and its other worktrees that decides which programs git runs. */
export async function protectionOf(
  files: ProtectionFiles,
  repository: GitRepository,
  userHome: string,
): Promise<GitProtection> {
  const { gitDir, commonDir } = repository;
  const [modules, worktrees] = await Promise.all([
    submoduleFolders(files, join(commonDir, "modules")),
    files.list(join(commonDir, "worktrees")),
  ]);
  const others = worktrees
    .filter(({ folder }) => folder)
    .map(({ name }) => join(commonDir, "worktrees", name));
  const parts =
    modules === undefined || others.length > MAX_FOLDERS
      ? undefined
      : await Promise.all([
          ...[commonDir, ...modules].map((folder) => protectGitDir(files, folder)),
          ...[...new Set([...others, ...(gitDir === commonDir ? [] : [gitDir])])].map((folder) =>
            protectWorktree(files, folder),
          ),
        ]);
  // There are too many parts to inspect, so they are read-only as a whole.
  const all = parts ?? [
    await protectGitDir(files, commonDir),
    { paths: ["modules", "worktrees"].map((name) => join(commonDir, name)), absent: [], placeholders: [] },
  ];
  const hooks = hooksFolder(await configFiles(files, repository, userHome), repository, userHome);
  return {
    repository,
    paths: [
      ...all.flatMap(({ paths }) => paths),
      ...(hooks !== undefined && (await files.exists(hooks)) ? [hooks] : []),
    ],
    absent: all.flatMap(({ absent }) => absent),
    placeholders: all.flatMap(({ placeholders }) => placeholders),
  };
}

type Part = Pick<GitProtection, "paths" | "absent" | "placeholders">;

/** The protected files of one git folder. */
async function protectGitDir(files: ProtectionFiles, folder: string): Promise<Part> {
  const config = (await textOf(files, join(folder, "config"))) ?? "";
  const perWorktree = configValue(config, "extensions", "worktreeConfig")?.toLowerCase() === "true";
  return classify(files, [
    { path: join(folder, "config") },
    { path: join(folder, "hooks"), placeholder: OTHER_CONTENT },
    { path: join(folder, "commondir"), placeholder: COMMON_DIR },
    { path: join(folder, "config.worktree"), ...(perWorktree ? { placeholder: OTHER_CONTENT } : {}) },
    { path: join(folder, "info", "attributes") },
  ]);
}

/** The protected files of a linked worktree's folder in the repository. */
function protectWorktree(files: ProtectionFiles, folder: string): Promise<Part> {
  return classify(files, [{ path: join(folder, "commondir") }, { path: join(folder, "config.worktree") }]);
}

/**
 * Sorts files into existing ones, missing ones and ones that need a placeholder. An existing placeholder file is in the
 * first and in the third group.
 */
async function classify(
  files: ProtectionFiles,
  wanted: readonly { readonly path: string; readonly placeholder?: string }[],
): Promise<Part> {
  const found = await Promise.all(
    wanted.map(async ({ path, placeholder }) => {
      const exists = await files.exists(path);
      const isPlaceholder =
        exists && placeholder !== undefined && (await textOf(files, path)) === placeholder;
      return { path, exists, placeholder: exists && !isPlaceholder ? undefined : placeholder };
    }),
  );
  const [present, absent] = [
    found.filter(({ exists, placeholder }) => exists || placeholder !== undefined),
    found.filter(({ exists, placeholder }) => !exists && placeholder === undefined),
  ];
  return {
    paths: present.map(({ path }) => path),
    absent: absent.map(({ path }) => path),
    placeholders: found.flatMap(({ path, placeholder }) =>
      placeholder === undefined ? [] : [{ path, text: placeholder }],
    ),
  };
}

/** The git folders of submodules, whose names may contain slashes; undefined if there are too many. */
async function submoduleFolders(
  files: ProtectionFiles,
  folder: string,
  depth = 0,
): Promise<readonly string[] | undefined> {
  const below = (await files.list(folder))
    .filter((entry) => entry.folder)
    .map(({ name }) => join(folder, name));
  if (below.length === 0) return [];
  if (below.length > MAX_FOLDERS || depth > MAX_DEPTH) return undefined;
  const found: string[] = [];
  for (const one of below) {
    const isRepository = await files.exists(join(one, "HEAD"));
    const more = await submoduleFolders(files, isRepository ? join(one, "modules") : one, depth + 1);
    if (more === undefined) return undefined;
    found.push(...(isRepository ? [one] : []), ...more);
    if (found.length > MAX_FOLDERS) return undefined;
  }
  return found;
}

/** A config file that git reads in a repository. The text is undefined if the file does not exist. */
export interface ConfigFile {
  readonly path: string;
  readonly text: string | undefined;
}

/** Limit on the config files of a repository, included ones among them. */
const MAX_CONFIGS = 64;

/** The config files that git reads in a repository, of the strongest first, each with the files that it includes. */
export function configFiles(
  files: ProtectionFiles,
  { gitDir, commonDir }: GitRepository,
  userHome: string,
): Promise<readonly ConfigFile[]> {
  const own = [join(gitDir, "config.worktree"), join(commonDir, "config")];
  return withIncludes(files, [...own, ...userConfigPaths(userHome)], userHome);
}

/** The config files that git reads everywhere, with the files that they include. */
export function userConfigFiles(files: ProtectionFiles, userHome: string): Promise<readonly ConfigFile[]> {
  return withIncludes(files, userConfigPaths(userHome), userHome);
}

function userConfigPaths(userHome: string): readonly string[] {
  return [join(userHome, ".gitconfig"), join(userHome, ".config", "git", "config")];
}

async function withIncludes(
  files: ProtectionFiles,
  paths: readonly string[],
  userHome: string,
): Promise<readonly ConfigFile[]> {
  const found: ConfigFile[] = [];
  const read = async (path: string): Promise<void> => {
    if (found.length >= MAX_CONFIGS || found.some((one) => one.path === path)) return;
    const text = await textOf(files, path);
    found.push({ path, text });
    for (const { section, key, value } of configEntries(text ?? ""))
      if (/^include(if)?$/.test(section) && key.toLowerCase() === "path")
        await read(expand(value, dirname(path), userHome));
  };
  for (const path of paths) await read(path);
  return found;
}

/**
 * The folder of hooks that `core.hooksPath` names instead of `hooks`. Of husky, whose folder `_` runs the scripts beside
 * it, the folder around it.
 */
export function hooksFolder(
  configs: readonly ConfigFile[],
  { worktree }: GitRepository,
  userHome: string,
): string | undefined {
  for (const { text } of configs) {
    const named = configValue(text ?? "", "core", "hooksPath");
    if (named === undefined || named === "") continue;
    const path = expand(named, worktree, userHome);
    return basename(path) === "_" ? dirname(path) : path;
  }
  return undefined;
}

/** Keys of settings whose value is a command that git runs, in any section. */
const COMMAND_KEYS =
  /^(fsmonitor|clean|smudge|process|command|textconv|external|driver|editor|pager|askpass|sshcommand|program|helper)$/i;

/** The files in a working tree that settings name as programs. A name without a slash is looked up in the PATH. */
export function programs(
  configs: readonly ConfigFile[],
  { worktree }: GitRepository,
  userHome: string,
): readonly string[] {
  return configs
    .flatMap(({ text }) => configEntries(text ?? ""))
    .filter(({ key }) => COMMAND_KEYS.test(key))
    .flatMap(({ value }) => value.replace(/^!/, "").split(/[\s;&|<>()"']+/))
    .filter((word) => word.includes("/"))
    .map((word) => expand(word, worktree, userHome));
}

/** A path of a config file as an absolute one. */
function expand(path: string, folder: string, userHome: string): string {
  const expanded = path.replace(/^~\//, `${userHome}/`);
  return isAbsolute(expanded) ? resolve(expanded) : resolve(folder, expanded);
}
