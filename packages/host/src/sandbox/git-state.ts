import { join } from "node:path";
import type { Platform } from "../platform/platform.ts";

type StatePlatform = Pick<Platform, "files" | "workspace">;

interface FileState {
  readonly bytes: Uint8Array;
  readonly mode: number;
}

/** `other`: a folder, or what cannot be read. */
type State = FileState | "other" | "missing";

/** What is larger is no hook or configuration. */
const MAX_BYTES = 1024 * 1024;
const MOST_HOOKS = 256;

/**
 * The protected files of a repository as they were. They are mounted read-only for a command, but a mount comes off when
 * somebody outside renames something over its place, so they are compared afterwards.
 */
export class GitState {
  readonly #platform: StatePlatform;
  readonly #paths: readonly string[];
  readonly #files: ReadonlyMap<string, State>;
  readonly #stamps: readonly number[] | undefined;

  private constructor(
    platform: StatePlatform,
    paths: readonly string[],
    files: ReadonlyMap<string, State>,
    stamps: readonly number[] | undefined,
  ) {
    this.#platform = platform;
    this.#paths = paths;
    this.#files = files;
    this.#stamps = stamps;
  }

  /** `known`: an earlier state, whose files are not read again if none has changed. */
  static async of(platform: StatePlatform, paths: readonly string[], known?: GitState): Promise<GitState> {
    const files = await filesOf(platform, paths);
    const stamps = await platform.files.stamps(files);
    if (known !== undefined && isSame(stamps, known.#stamps)) return known;
    return new GitState(platform, paths, await readAll(platform, files), stamps);
  }

  /** Puts back what has changed since; resolves with the paths of that. */
  async restore(): Promise<readonly string[]> {
    const { files, workspace } = this.#platform;
    const listed = await filesOf(this.#platform, this.#paths);
    const stamps = await files.stamps(listed);
    if (isSame(stamps, this.#stamps)) return [];
    const now = await readAll(this.#platform, listed);
    const changed = new Set<string>();
    for (const [path, state] of now) {
      const old = this.#files.get(path) ?? "missing";
      if (state === "missing" || isSameState(state, old)) continue;
      // A folder whose files are gone; they are written below.
      if (state === "other" && this.#isAbove(path)) continue;
      changed.add(path);
      // Also what is written below: not through a link that was put there.
      await files.remove(path);
    }
    for (const [path, old] of this.#files) {
      if (typeof old === "string" || isSameState(now.get(path) ?? "missing", old)) continue;
      changed.add(path);
      await workspace.replace(path, old.bytes, { mode: old.mode, isAllowed: () => true });
    }
    return [...changed].sort();
  }

  #isAbove(path: string): boolean {
    return [...this.#files.keys()].some((file) => file.startsWith(`${path}/`));
  }
}

/** The paths, and the files in those that are folders. */
async function filesOf({ files }: StatePlatform, paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const below = await files.list(path).catch(() => []);
      return below.length === 0 ? [path] : below.slice(0, MOST_HOOKS).map(({ name }) => join(path, name));
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

function isSame(a: readonly number[] | undefined, b: readonly number[] | undefined): boolean {
  return a !== undefined && b !== undefined && a.length === b.length && a.every((one, at) => one === b[at]);
}
