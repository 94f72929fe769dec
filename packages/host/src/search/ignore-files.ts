import { dirname, join, resolve } from "node:path";
import type { AllowedFolders } from "../platform/allowed-folders.ts";
import type { FileSearchAccess } from "../platform/file-search-access.ts";
import { upwards } from "../platform/parent-folders.ts";
import { IgnoreRules, type Verdict } from "./ignore-rules.ts";

/** The ignore rules of one folder, linked to those of its parents. */
export interface IgnoreFrame {
  readonly folder: string;
  readonly parent: IgnoreFrame | undefined;
  /** Rules of `.ignore`. */
  readonly ignore: IgnoreRules | undefined;
  /** Rules of `.gitignore`. */
  readonly git: IgnoreRules | undefined;
  /** Set if the folder is the top of a git repository, with the rules of its `info/exclude`. */
  readonly repository: { readonly exclude: IgnoreRules | undefined } | undefined;
}

/** Reads ignore files in the way of git and the Codex CLI. */
export class IgnoreFiles {
  readonly #files: FileSearchAccess;
  readonly #allowed: AllowedFolders | null;
  #global: Promise<IgnoreRules | undefined> | undefined;

  constructor(files: FileSearchAccess, allowed: AllowedFolders | null) {
    this.#files = files;
    this.#allowed = allowed;
  }

  /** The frame of all parents of a folder; undefined if it has none. */
  async above(folder: string): Promise<IgnoreFrame | undefined> {
    const names = new Set([".ignore", ".gitignore", ".git"]);
    let frame: IgnoreFrame | undefined;
    for (const parent of upwards(folder).slice(1).reverse()) frame = await this.enter(parent, frame, names);
    return frame;
  }

  /** The frame of a folder. `names`: the folder's entries; ignore files that are not among them are not looked up. */
  async enter(
    folder: string,
    parent: IgnoreFrame | undefined,
    names: { has(name: string): boolean },
  ): Promise<IgnoreFrame> {
    const hasAny = names.has(".ignore") || names.has(".gitignore") || names.has(".git");
    if (!hasAny) return { folder, parent, ignore: undefined, git: undefined, repository: undefined };
    return {
      folder,
      parent,
      ignore: names.has(".ignore") ? await this.#rules(join(folder, ".ignore")) : undefined,
      git: names.has(".gitignore") ? await this.#rules(join(folder, ".gitignore")) : undefined,
      repository: names.has(".git") ? await this.#repository(join(folder, ".git")) : undefined,
    };
  }

  /** The global git ignore rules of the host's user. They are not applied to searches of other users. */
  global(): Promise<IgnoreRules | undefined> {
    this.#global ??= this.#allowed === null ? this.#readGlobal() : Promise.resolve(undefined);
    return this.#global;
  }

  async #repository(git: string): Promise<IgnoreFrame["repository"]> {
    const found = await this.#files.follow(git, this.#allowed);
    if (found === undefined) return undefined;
    const folder = found.isFolder ? git : await this.#gitFolder(git);
    // For git, a folder without HEAD is no repository.
    if (found.isFolder && (await this.#files.follow(join(git, "HEAD"), this.#allowed)) === undefined)
      return undefined;
    return { exclude: folder === undefined ? undefined : await this.#rules(join(folder, "info", "exclude")) };
  }

  /** Resolves a `.git` file, which linked worktrees and submodules have, to the repository's folder. */
  async #gitFolder(file: string): Promise<string | undefined> {
    const text = await this.#files.readText(file, this.#allowed);
    const named = /^gitdir: (.+)$/m.exec(text ?? "")?.[1]?.trim();
    if (named === undefined) return undefined;
    const folder = resolve(dirname(file), named);
    const common = await this.#files.readText(join(folder, "commondir"), this.#allowed);
    return common === undefined ? folder : resolve(folder, common.trim());
  }

  async #readGlobal(): Promise<IgnoreRules | undefined> {
    const { home, config } = this.#files.userFolders;
    for (const file of [join(home, ".gitconfig"), join(config, "git", "config")]) {
      const text = await this.#files.readText(file, null);
      const named = /^\s*excludesfile\s*=\s*"?([^"\n]+?)"?\s*$/im.exec(text ?? "")?.[1];
      if (named !== undefined) return this.#rules(named.replace(/^~(?=\/)/, home));
    }
    return this.#rules(join(config, "git", "ignore"));
  }

  async #rules(file: string): Promise<IgnoreRules | undefined> {
    const text = await this.#files.readText(file, this.#allowed);
    const rules = text === undefined ? undefined : new IgnoreRules(text);
    return rules?.isEmpty === false ? rules : undefined;
  }
}

/** Decides which entries of one folder are ignored; created once per folder. */
export class FolderVerdicts {
  /** The rules of the folder and its parents, innermost first, each with the length of its path. */
  readonly #ignore: readonly RulesOfFolder[];
  readonly #git: readonly RulesOfFolder[];

  constructor(frame: IgnoreFrame, global: IgnoreRules | undefined) {
    const ignore: RulesOfFolder[] = [];
    const git: RulesOfFolder[] = [];
    let repository: IgnoreFrame | undefined;
    for (let at: IgnoreFrame | undefined = frame; at !== undefined; at = at.parent) {
      const depth = at.folder.endsWith("/") ? at.folder.length : at.folder.length + 1;
      if (at.ignore !== undefined) ignore.push({ rules: at.ignore, depth });
      if (repository !== undefined) continue;
      if (at.git !== undefined) git.push({ rules: at.git, depth });
      if (at.repository === undefined) continue;
      repository = at;
      if (at.repository.exclude !== undefined) git.push({ rules: at.repository.exclude, depth });
      if (global !== undefined) git.push({ rules: global, depth });
    }
    this.#ignore = ignore;
    // Outside a repository `.gitignore` has no effect.
    this.#git = repository === undefined ? [] : git;
  }

  get hasNoRules(): boolean {
    return this.#ignore.length === 0 && this.#git.length === 0;
  }

  /** Whether an entry is ignored. `path`: the folder's path as walked, symlinks not resolved, with the name. */
  isIgnored(path: string, name: string, isFolder: boolean): boolean {
    const verdict =
      firstVerdict(this.#ignore, path, name, isFolder) ?? firstVerdict(this.#git, path, name, isFolder);
    return verdict === "ignored";
  }
}

interface RulesOfFolder {
  readonly rules: IgnoreRules;
  readonly depth: number;
}

function firstVerdict(
  folders: readonly RulesOfFolder[],
  path: string,
  name: string,
  isFolder: boolean,
): Verdict | undefined {
  for (const { rules, depth } of folders) {
    const verdict = rules.verdict(path.slice(depth), name, isFolder);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}
