import { join, relative } from "node:path";
import type { Files, Platform } from "../platform/platform.ts";
import { isWithin } from "./access.ts";

type StatePlatform = Pick<Platform, "files" | "workspace">;

interface FileState {
  readonly bytes: Uint8Array;
  readonly mode: number;
}

/** `other`: a folder, or a file that cannot be read. */
type State = FileState | "other" | "missing";

/** Limit on the size of compared files. Larger files are neither hooks nor config files. */
const MAX_BYTES = 1024 * 1024;
/** Limit on the files of one folder. A repository with more is not opened: what is not read cannot be compared. */
const MAX_FOLDER_FILES = 256;

/**
 * The content of a repository's protected files before a command. They are mounted read-only for the command. A mount
 * is lost when a process outside of the sandbox renames a file over its mount point. So the files are compared after the
 * command. Nothing is restored: the host writes and deletes nothing in folders that a command can exchange.
 */
export class GitFileSnapshot {
  readonly #platform: StatePlatform;
  /** The git folder that all worktrees share (usually .git), as a real path. Paths inside it may be symlinks. */
  readonly #folder: string;
  readonly #paths: readonly string[];
  /** The real path that each path led to at the time of the snapshot. */
  readonly #realPaths: ReadonlyMap<string, RealPath>;
  readonly #files: ReadonlyMap<string, State>;
  readonly #stamps: readonly number[] | undefined;

  private constructor(
    platform: StatePlatform,
    folder: string,
    paths: readonly string[],
    realPaths: ReadonlyMap<string, RealPath>,
    files: ReadonlyMap<string, State>,
    stamps: readonly number[] | undefined,
  ) {
    this.#platform = platform;
    this.#folder = folder;
    this.#paths = paths;
    this.#realPaths = realPaths;
    this.#files = files;
    this.#stamps = stamps;
  }

  /**
   * Takes a snapshot of `paths` in the repository `folder`. `known`: an earlier snapshot, which is reused if no file has
   * changed. Throws if a folder has too many files.
   */
  static async of(
    platform: StatePlatform,
    folder: string,
    paths: readonly string[],
    known?: GitFileSnapshot,
  ): Promise<GitFileSnapshot> {
    const files = await filesOf(platform, paths);
    const places = await placesOf(platform, folder, [...paths, ...files]);
    const stamps = await platform.files.stamps(files);
    if (known !== undefined && equalStamps(stamps, known.#stamps) && equalPaths(places, known.#realPaths))
      return known;
    return new GitFileSnapshot(platform, folder, paths, places, await readAll(platform, files), stamps);
  }

  /** The paths whose content or real path differs from the snapshot. */
  async changes(): Promise<readonly string[]> {
    const now = await GitFileSnapshot.of(this.#platform, this.#folder, this.#paths, this).catch(
      () => undefined,
    );
    if (now === this) return [];
    // There is no second snapshot, because a folder has too many files now. So every path counts as changed.
    if (now === undefined) return this.#paths;
    const changed = new Set<string>();
    for (const path of new Set([...this.#realPaths.keys(), ...now.#realPaths.keys()]))
      if (this.#realPaths.get(path) !== now.#realPaths.get(path)) changed.add(path);
    for (const path of new Set([...this.#files.keys(), ...now.#files.keys()]))
      if (!isSameState(this.#files.get(path) ?? "missing", now.#files.get(path) ?? "missing"))
        changed.add(path);
    return [...changed].sort();
  }
}

/** The real path that a path leads to; null for a broken symlink. */
type RealPath = string | null;

async function realPathOf(
  files: Pick<Files, "realPath" | "exists" | "stamps">,
  path: string,
): Promise<RealPath> {
  const place = await files.realPath(path).catch(() => null);
  if (place !== path || !(await files.exists(path))) return place;
  // A broken symlink exists and has no stamp.
  const stamps = await files.stamps([path]);
  return stamps?.every((one) => one === 0) ? null : place;
}

/** The places of paths and, within the repository, of the folders above them. */
async function placesOf(
  { files }: StatePlatform,
  folder: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, RealPath>> {
  const all = new Set([folder]);
  for (const path of paths) {
    const names = isWithin(path, folder) ? relative(folder, path).split("/") : [];
    for (const depth of names.keys()) all.add(join(folder, ...names.slice(0, depth + 1)));
    all.add(path);
  }
  const places = await Promise.all(
    [...all].map(async (path): Promise<[string, RealPath]> => [path, await realPathOf(files, path)]),
  );
  return new Map(places);
}

/** The given paths, with each folder replaced by its files. Throws if a folder has too many. */
async function filesOf({ files }: StatePlatform, paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const below = await files.list(path).catch(() => []);
      if (below.filter((entry) => !entry.folder).length > MAX_FOLDER_FILES)
        throw new Error(`${path} has more than ${MAX_FOLDER_FILES} files`);
      return below.length === 0 ? [path] : below.map(({ name }) => join(path, name));
    }),
  );
  return found.flat().sort();
}

async function readAll(
  { workspace }: StatePlatform,
  paths: readonly string[],
): Promise<ReadonlyMap<string, State>> {
  const read = await Promise.all(
    paths.map(async (path): Promise<[string, State]> => {
      const state = await workspace.read(path, MAX_BYTES).catch(() => "other" as const);
      return [path, state ?? "missing"];
    }),
  );
  return new Map(read);
}

function isSameState(a: State, b: State): boolean {
  if (typeof a === "string" || typeof b === "string") return a === b;
  return a.mode === b.mode && Buffer.compare(a.bytes, b.bytes) === 0;
}

function equalStamps(a: readonly number[] | undefined, b: readonly number[] | undefined): boolean {
  return a !== undefined && b !== undefined && a.length === b.length && a.every((one, at) => one === b[at]);
}

function equalPaths(a: ReadonlyMap<string, RealPath>, b: ReadonlyMap<string, RealPath>): boolean {
  return a.size === b.size && [...a].every(([path, place]) => b.get(path) === place);
}
