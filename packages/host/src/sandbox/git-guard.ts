import { dirname, join } from "node:path";
import {
  configValue,
  findDotGit,
  type GitRepository,
  readDotGit,
  textOf,
} from "../platform/git-repository.ts";
import { upwards } from "../platform/parent-folders.ts";
import type { Files } from "../platform/platform.ts";
import { isWithin } from "./access.ts";
import {
  type ConfigFile,
  configFiles,
  hooksFolder,
  OTHER_CONTENT,
  programs,
  protectionOf,
  userConfigFiles,
} from "./git-protection.ts";
import type { IndexLinkReader } from "./index-gitlinks.ts";
import { isPin, type Placeholder } from "./placeholder-files.ts";

/**
 * What the user's git finds in a workspace. Commands must neither change nor create it: otherwise the user's next
 * `git status` would run programs that a command chose.
 */
export interface GitGuard {
  /** Files and folders in writable ones that commands can only read. */
  readonly paths: readonly string[];
  /** Placeholders for what does not exist, or is an empty folder. */
  readonly missing: readonly Placeholder[];
  /** Workspace folders that are no repository. A command can still make bare ones of them. */
  readonly plain: readonly string[];
  /** The real paths of symlinks among `paths`. A command can still replace the symlinks. */
  readonly followed: ReadonlyMap<string, string>;
}

type GuardFiles = Pick<Files, "readText" | "exists" | "list" | "realPath">;

/**
 * Protects a path. If it is vacant, a placeholder keeps commands from creating it: there or, if folders on the way from
 * `below` are vacant, too, at the topmost of these. `text`: the content of the placeholder; null for a folder.
 */
type Guard = (path: string, below: string, text?: string | null) => Promise<void>;

/** Limit on the protected nested repositories of one repository, and on their depth. */
const MAX_LINKS = 256;
const MAX_DEPTH = 4;

/** Determines what git finds in workspaces. */
export class GitGuards {
  readonly #files: GuardFiles;
  readonly #links: IndexLinkReader;
  readonly #userHome: string;

  constructor(files: GuardFiles, links: IndexLinkReader, userHome: string) {
    this.#files = files;
    this.#links = links;
    this.#userHome = userHome;
  }

  /** The guard of the workspace folders `roots`, if commands can write to the folders `writable`. Real paths. */
  async of(roots: readonly string[], writable: readonly string[]): Promise<GitGuard> {
    const isWritable = (path: string): boolean => writable.some((folder) => isWithin(path, folder));
    const paths = new Set<string>();
    const missing = new Map<string, Placeholder>();
    const plain: string[] = [];
    const followed = new Map<string, string>();
    const guard: Guard = async (path, below, text = null) => {
      if (paths.has(path) || !isWritable(path)) return;
      const isVacant = await this.#isVacant(path).catch(() => undefined);
      // A command may have taken permissions from a folder and could give them back, so the folder itself is protected.
      if (isVacant === undefined) return void paths.add(await this.#closedFolder(path));
      paths.add(path);
      if (!isVacant) {
        const real = await this.#files.realPath(path);
        if (real !== path) followed.set(path, real);
        return;
      }
      const top = await this.#topmostVacant(path, below);
      missing.set(top, { path: top, text: top === path ? text : null });
    };
    const configs = await userConfigFiles(this.#files, this.#userHome);
    // In a temporary folder, the user's home is not somebody's workspace: what is missing there is not masked.
    if (roots.some((root) => isWithin(this.#userHome, root)))
      await this.#guardConfigs(configs, undefined, guard);
    for (const { path, text } of configs) if (text !== undefined) await this.#guardTarget(path, guard);
    for (const root of roots)
      for (const folder of upwards(root).filter(isWritable)) {
        await guard(join(folder, ".git"), folder);
        const found = await readDotGit(this.#files, folder);
        if (found?.repository !== undefined) await this.#guardRepository(found.repository, guard);
        // Git follows a `.git` that names a folder which does not name this one back.
        else if (found?.head !== undefined) await guard(found.head, found.head);
        if (found !== undefined) break;
        const bare = await this.#bareRepository(folder);
        if (bare !== undefined) {
          const { paths: files, placeholders } = await protectionOf(this.#files, bare, this.#userHome);
          for (const path of files) paths.add(path);
          for (const one of placeholders) missing.set(one.path, one);
          break;
        }
        if (folder === root) plain.push(root);
        // Without HEAD, a folder is no bare repository. A new, empty folder stays empty for programs that insist on it.
        const isInRepository = (await findDotGit(this.#files, dirname(folder)))?.head !== undefined;
        if (isInRepository && !(await this.#isVacant(folder))) await guard(join(folder, "HEAD"), folder);
      }
    return { paths: [...paths], missing: [...missing.values()], plain, followed };
  }

  /** Sentences about what has changed since the guard was determined, and was not prevented. */
  async changes({ plain, followed }: GitGuard): Promise<readonly string[]> {
    const found: string[] = [];
    for (const folder of plain)
      if ((await this.#bareRepository(folder)) !== undefined) found.push(bareNotice(folder));
    for (const [path, real] of followed)
      if ((await this.#files.realPath(path).catch(() => undefined)) !== real)
        found.push(followedNotice(path, real));
    return found;
  }

  /** Folders of the working tree that git takes for nested repositories, because its index has links to them. */
  async links({ worktree, gitDir, commonDir }: GitRepository, depth = 0): Promise<readonly string[]> {
    const config = (await textOf(this.#files, join(commonDir, "config"))) ?? "";
    const isSha256 = configValue(config, "extensions", "objectFormat")?.toLowerCase() === "sha256";
    const found: string[] = [];
    for (const link of await this.#links.of(gitDir, isSha256)) {
      const folder = join(worktree, link);
      // Git refuses such a path. Nothing outside of the working tree is touched because of an index.
      if (!isWithin(folder, worktree) || folder === worktree) continue;
      found.push(folder);
      const nested =
        depth < MAX_DEPTH && found.length < MAX_LINKS ? await readDotGit(this.#files, folder) : undefined;
      if (nested?.repository !== undefined) found.push(...(await this.links(nested.repository, depth + 1)));
    }
    return found;
  }

  async #guardRepository(repository: GitRepository, guard: Guard): Promise<void> {
    const { worktree, gitDir, commonDir } = repository;
    await guard(gitDir, gitDir);
    await guard(commonDir, commonDir);
    const configs = await configFiles(this.#files, repository, this.#userHome);
    await this.#guardConfigs(
      configs.filter(({ path }) => !isWithin(path, commonDir)),
      worktree,
      guard,
    );
    const hooks = hooksFolder(configs, repository, this.#userHome);
    if (hooks !== undefined) await guard(hooks, worktree);
    for (const program of programs(configs, repository, this.#userHome))
      if (isWithin(program, worktree)) await guard(program, worktree);
    for (const folder of [join(commonDir, "hooks"), ...(hooks === undefined ? [] : [hooks])])
      for (const { name } of await this.#files.list(folder).catch(() => []))
        await this.#guardTarget(join(folder, name), guard);
    for (const folder of (await this.links(repository)).slice(0, MAX_LINKS))
      await guard(join(folder, ".git"), worktree);
  }

  async #guardConfigs(
    configs: readonly ConfigFile[],
    worktree: string | undefined,
    guard: Guard,
  ): Promise<void> {
    const tops = [...(worktree === undefined ? [] : [worktree]), this.#userHome];
    for (const { path } of configs)
      await guard(path, tops.find((top) => isWithin(path, top)) ?? dirname(path), OTHER_CONTENT);
  }

  /** Protects what a symlink leads to. */
  async #guardTarget(path: string, guard: Guard): Promise<void> {
    const real = await this.#files.realPath(path).catch(() => path);
    if (real !== path) await guard(real, dirname(real), OTHER_CONTENT);
  }

  /** The innermost folder on the way to a path that this user can see. What is below it cannot be seen. */
  async #closedFolder(path: string): Promise<string> {
    const parent = dirname(path);
    const isSeen = await this.#files.exists(parent).catch(() => false);
    return isSeen || parent === path ? parent : this.#closedFolder(parent);
  }

  async #bareRepository(folder: string): Promise<GitRepository | undefined> {
    const has = (name: string): Promise<boolean> => this.#files.exists(join(folder, name));
    // With `commondir`, objects and refs are in the folder that it names.
    if (
      !(await has("HEAD")) ||
      !((await has("commondir")) || ((await has("objects")) && (await has("refs"))))
    )
      return undefined;
    // A placeholder of another command.
    if (await this.#files.exists(`${join(folder, "HEAD")}/.`)) return undefined;
    return { worktree: folder, gitDir: folder, commonDir: folder };
  }

  /** Whether there is nothing at a path, or an empty folder, which may be a placeholder of another command. */
  async #isVacant(path: string): Promise<boolean> {
    if (!(await this.#files.exists(path))) return true;
    const entries = await this.#files.list(path).catch(() => [{ name: path }]);
    return entries.every(({ name }) => isPin(name));
  }

  /** The topmost path on the way from the folder `below` to a vacant path that is vacant, too. */
  async #topmostVacant(path: string, below: string): Promise<string> {
    const parent = dirname(path);
    if (parent === below || !isWithin(parent, below) || !(await this.#isVacant(parent))) return path;
    return this.#topmostVacant(parent, below);
  }
}

function bareNotice(folder: string): string {
  return (
    `${folder} has become a git repository itself: it contains HEAD. Git commands there run ` +
    `programs that ${join(folder, "config")} names. Check it, or remove HEAD.`
  );
}

function followedNotice(path: string, real: string): string {
  return `${path} led to ${real} and does not any more. Git runs programs that it names: check it before the next git command.`;
}
