import { type BigIntStats, constants, type Stats } from "node:fs";
import { open, readlink, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { type Bounds, coded } from "./machine-file-access.ts";
import type { HeldPath } from "./platform.ts";

/**
 * Linux's `O_PATH`, which Node does not export. It refers to a file or folder without opening it, so that pipes do
 * not block and devices do not act.
 */
const O_PATH = 0o10000000;
const { O_DIRECTORY, O_NOFOLLOW } = constants;

/**
 * A handle that keeps referring to the same file or folder when the path is renamed or replaced. On systems other
 * than Linux, it is only the path with all symlinks resolved.
 */
export interface PathHandle {
  /**
   * A path to the file or folder itself, valid while the handle is open; names can be appended to the path of a
   * folder.
   */
  readonly path: string;
  /** The descriptor; undefined on systems other than Linux. */
  readonly descriptor: number | undefined;
  /** The real path: absolute, with all symlinks resolved. */
  readonly real: string;
  stats(): Promise<Stats>;
  /** Device and inode, which tell whether another path leads to the same file or folder. */
  id(): Promise<string>;
  close(): Promise<void>;
}

/** What a path must be in order to be opened. */
export interface HandleOptions {
  /** The path must be a folder; everything else throws `ENOTDIR`. */
  readonly folder?: boolean;
  /** A symlink as the last name is not followed; with `folder` it throws `ENOTDIR`. Ignored on systems other than Linux. */
  readonly noLink?: boolean;
}

/** Opens a handle, which the caller closes. */
export async function openHandle(
  path: string,
  { folder = false, noLink = false }: HandleOptions = {},
): Promise<PathHandle> {
  if (process.platform !== "linux") return openByName(path, folder);
  const flags = O_PATH | (folder ? O_DIRECTORY : 0) | (noLink ? O_NOFOLLOW : 0);
  const handle = await open(path, flags);
  const viaDescriptor = `/proc/self/fd/${handle.fd}`;
  try {
    return {
      path: viaDescriptor,
      descriptor: handle.fd,
      real: await readlink(viaDescriptor),
      stats: () => handle.stat(),
      id: async () => idOf(await handle.stat({ bigint: true })),
      close: () => handle.close(),
    };
  } catch (cause) {
    await handle.close();
    throw cause;
  }
}

async function openByName(path: string, folder: boolean): Promise<PathHandle> {
  const real = await realpath(path);
  if (folder && !(await stat(real)).isDirectory()) throw coded("ENOTDIR", `${path} is not a folder`);
  return {
    path: real,
    descriptor: undefined,
    real,
    stats: () => stat(real),
    id: async () => idOf(await stat(real, { bigint: true })),
    close: async () => {},
  };
}

/** Holds a file or folder; undefined if it does not exist, or if the path leads over a symlink. Linux only. */
export async function holdPath(path: string): Promise<HeldPath | undefined> {
  const handle = await openHandle(path, { noLink: true }).catch(() => undefined);
  if (handle === undefined) return undefined;
  const { descriptor, real, close } = handle;
  if (descriptor !== undefined && real === path && !(await handle.stats()).isSymbolicLink())
    return { descriptor, close };
  await close();
  return undefined;
}

function idOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Opens a handle, runs `work` with it and closes it. Throws `EOUTSIDE` if `bounds` does not allow the real path. */
export async function withPathHandle<T>(
  path: string,
  bounds: Bounds,
  options: HandleOptions,
  work: (held: PathHandle) => Promise<T>,
): Promise<T> {
  const held = await openHandle(path, options);
  try {
    if (!bounds.isAllowed(held.real)) throw coded("EOUTSIDE", `${path} leads outside the allowed folders`);
    return await work(held);
  } finally {
    await held.close();
  }
}

/**
 * As `withPathHandle`, for the parent folder of a path: to create, replace or remove an entry, `bounds` must
 * allow its folder.
 */
export async function inParentFolder<T>(
  path: string,
  bounds: Bounds,
  work: (folder: PathHandle) => Promise<T>,
): Promise<T> {
  return withPathHandle(dirname(path), bounds, { folder: true }, work);
}
