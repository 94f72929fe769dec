import type { Stats } from "node:fs";
import { lstat, mkdir, readlink } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { type Bounds, coded, codeOf } from "./machine-file-access.ts";
import { inParentFolder, type PathHandle, withPathHandle } from "./path-handle.ts";

const MAX_LINKS = 40;

/** Returns the metadata of a file; throws `ENOTFILE` for anything else. */
export async function fileStats(held: PathHandle, path: string): Promise<Stats> {
  const found = await held.stats();
  if (!found.isFile()) throw coded("ENOTFILE", `${path} is not a file`);
  return found;
}

/**
 * Runs `work` in the folder of the file that is to be written. A symlink at the path is followed, even if its target
 * does not exist yet.
 */
export async function inTargetFolder(
  requested: string,
  bounds: Bounds,
  work: (folder: PathHandle, name: string) => Promise<void>,
): Promise<void> {
  let path = requested;
  for (let links = 0; links <= MAX_LINKS; links++) {
    const next = await inParentFolder(path, bounds, async (folder) => {
      const name = basename(path);
      const linked = await linkAt(join(folder.path, name));
      if (linked !== undefined) return isAbsolute(linked) ? linked : `${folder.real}/${linked}`;
      if (!bounds.isAllowed(join(folder.real, name)))
        throw coded("EOUTSIDE", `${requested} leads outside the allowed folders`);
      await work(folder, name);
      return undefined;
    });
    if (next === undefined) return;
    path = next;
  }
  throw coded("ELOOP", `${requested} is a loop of symlinks`);
}

async function linkAt(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (cause) {
    if (codeOf(cause) === "EINVAL" || codeOf(cause) === "ENOENT") return undefined;
    throw cause;
  }
}

/** Creates a folder and its missing parents. */
export async function makeFolders(path: string, bounds: Bounds): Promise<void> {
  try {
    return await withPathHandle(path, bounds, {}, async (held) => {
      if (!(await held.stats()).isDirectory()) throw coded("EEXIST", `${path} exists and is not a folder`);
    });
  } catch (cause) {
    if (codeOf(cause) !== "ENOENT" || dirname(path) === path) throw cause;
  }
  await makeFolders(dirname(path), bounds);
  await inParentFolder(path, bounds, async (folder) => {
    try {
      await makeIn(folder, basename(path), bounds);
    } catch (cause) {
      // Another process may have created it in the meantime.
      if (codeOf(cause) !== "EEXIST") throw cause;
      const there = await lstatIfExists(join(folder.path, basename(path)));
      if (!there?.isDirectory()) throw cause;
    }
  });
}

/** Creates a folder inside an open one. */
export async function makeIn(folder: PathHandle, name: string, bounds: Bounds): Promise<void> {
  if (!bounds.isAllowed(join(folder.real, name)))
    throw coded("EOUTSIDE", `${name} is outside the allowed folders`);
  await mkdir(join(folder.path, name));
}

/**
 * Returns the metadata of the file that is about to be replaced; undefined if there is none. Throws if it is not a
 * regular file.
 */
export async function replaceable(folder: PathHandle, name: string): Promise<Stats | undefined> {
  const path = join(folder.real, name);
  const found = await lstatIfExists(join(folder.path, name));
  if (found?.isDirectory()) throw coded("EISDIR", `${path} is a folder`, path);
  if (found !== undefined && !found.isFile()) throw coded("ENOTFILE", `${path} is not a file`, path);
  return found;
}

/** Returns the metadata of the name itself (symlinks are not followed), undefined if it does not exist. */
export async function lstatIfExists(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw cause;
  }
}
