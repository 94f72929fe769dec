import { join } from "node:path";
import type { AllowedFolders } from "../platform/allowed-folders.ts";
import type { FileSearchAccess, SearchEntry } from "../platform/file-search-access.ts";
import { FolderVerdicts, IgnoreFiles, type IgnoreFrame } from "./ignore-files.ts";

/** Limit on the depth. No project is deeper, but a loop of symlinks is. */
const MAX_DEPTH = 128;

/** A file or folder that a walk found. */
export interface FoundEntry {
  /** The path relative to its root. */
  readonly path: string;
  readonly isFolder: boolean;
}

interface Folder {
  readonly path: string;
  /** The path relative to the root. */
  readonly relative: string;
  /** The real path, with all symlinks resolved. */
  readonly real: string;
  readonly parent: Folder | undefined;
  readonly frame: IgnoreFrame | undefined;
  readonly depth: number;
}

/**
 * Walks the folders below a root breadth-first, and skips ignored entries. Symlinks are followed, except into a
 * parent folder. Each step reads one folder.
 */
export class FolderWalk {
  readonly #files: FileSearchAccess;
  readonly #allowed: AllowedFolders | null;
  readonly #ignore: IgnoreFiles;
  readonly #elsewhere: ReadonlySet<string>;
  #queue: Folder[] = [];
  #next = 0;

  /** `elsewhere`: folders that are walked as roots of their own, and are not entered here. */
  constructor(files: FileSearchAccess, allowed: AllowedFolders | null, elsewhere: ReadonlySet<string>) {
    this.#files = files;
    this.#allowed = allowed;
    this.#ignore = new IgnoreFiles(files, allowed);
    this.#elsewhere = elsewhere;
  }

  get isDone(): boolean {
    return this.#next === this.#queue.length;
  }

  async start(root: string): Promise<void> {
    const found = await this.#files.follow(root, this.#allowed);
    if (found?.isFolder !== true) return;
    const frame = await this.#ignore.above(root);
    this.#queue.push({ path: root, relative: "", real: found.real, parent: undefined, frame, depth: 0 });
  }

  /** The entries of the next folder that are not ignored. */
  async step(): Promise<readonly FoundEntry[]> {
    const folder = this.#queue[this.#next++];
    // From time to time, folders that were already walked are removed from the queue, to free their memory.
    if (this.#next > 1000) {
      this.#queue = this.#queue.slice(this.#next);
      this.#next = 0;
    }
    if (folder === undefined) return [];
    const entries = await this.#files.list(folder.path, this.#allowed);
    const frame = await this.#ignore.enter(folder.path, folder.frame, ignoreFileNames(entries));
    const verdicts = new FolderVerdicts(frame, await this.#ignore.global());
    const found: FoundEntry[] = [];
    for (const entry of entries) {
      // Only symlinks are awaited, because awaiting every entry would take longer than all other work.
      const notIgnored =
        entry.kind === "link"
          ? await this.#follow(entry, folder, frame, verdicts)
          : this.#accept(entry.name, entry.kind === "folder", undefined, folder, frame, verdicts);
      if (notIgnored !== undefined) found.push(notIgnored);
    }
    return found;
  }

  async #follow(
    { name }: SearchEntry,
    folder: Folder,
    frame: IgnoreFrame,
    verdicts: FolderVerdicts,
  ): Promise<FoundEntry | undefined> {
    const found = await this.#files.follow(join(folder.path, name), this.#allowed);
    if (found === undefined) return undefined;
    if (found.isFolder)
      for (let above: Folder | undefined = folder; above !== undefined; above = above.parent)
        if (above.real === found.real) return undefined;
    return this.#accept(name, found.isFolder, found.real, folder, frame, verdicts);
  }

  #accept(
    name: string,
    isFolder: boolean,
    linked: string | undefined,
    folder: Folder,
    frame: IgnoreFrame,
    verdicts: FolderVerdicts,
  ): FoundEntry | undefined {
    const path = folder.path.endsWith("/") ? folder.path + name : `${folder.path}/${name}`;
    if (!verdicts.hasNoRules && verdicts.isIgnored(path, name, isFolder)) return undefined;
    const relative = folder.relative === "" ? name : `${folder.relative}/${name}`;
    if (isFolder && folder.depth < MAX_DEPTH && !this.#elsewhere.has(path)) {
      const real = linked ?? join(folder.real, name);
      this.#queue.push({ path, relative, real, parent: folder, frame, depth: folder.depth + 1 });
    }
    return { path: relative, isFolder };
  }
}

const IGNORE_FILES = new Set([".ignore", ".gitignore", ".git"]);

function ignoreFileNames(entries: readonly SearchEntry[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { name } of entries) if (name.charCodeAt(0) === 46 && IGNORE_FILES.has(name)) names.add(name);
  return names;
}
