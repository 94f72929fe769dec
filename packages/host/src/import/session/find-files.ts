import { join } from "node:path";
import type { Platform } from "../../platform/platform.ts";
import type { SessionFile } from "./session-files.ts";

/** Limit on the number of files that are found. */
const MAX_FILES = 200_000;
/** Limit on concurrent file accesses. */
const AT_ONCE = 32;

type WalkPlatform = Pick<Platform, "files" | "machineFileAccess">;

/** Finds files below a folder by name, with their modification times. Files that cannot be accessed are skipped. */
export async function filesBelow(
  platform: WalkPlatform,
  folder: string,
  depth: number,
  isWanted: (name: string) => boolean,
): Promise<readonly SessionFile[]> {
  const paths: string[] = [];
  const walk = async (at: string, left: number): Promise<void> => {
    for (const { name, folder: isFolder } of await platform.files.list(at).catch(() => [])) {
      if (paths.length >= MAX_FILES) return;
      if (isFolder && left > 0) await walk(join(at, name), left - 1);
      else if (!isFolder && isWanted(name)) paths.push(join(at, name));
    }
  };
  await walk(folder, depth);
  const found: SessionFile[] = [];
  const bounds = { isAllowed: () => true, signal: new AbortController().signal };
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    const some = paths.slice(at, at + AT_ONCE).map(async (path): Promise<SessionFile | undefined> => {
      const look = await platform.machineFileAccess.look(path, bounds).catch(() => undefined);
      return look?.kind === "file" ? { path, modifiedAt: look.modifiedAt } : undefined;
    });
    for (const one of await Promise.all(some)) if (one !== undefined) found.push(one);
  }
  return found;
}

/** Returns the path if it leads to a file below one of the folders, symlinks resolved; else undefined. */
export async function pathWithin(
  { files }: WalkPlatform,
  path: string,
  folders: readonly string[],
): Promise<string | undefined> {
  if (!(await files.exists(path).catch(() => false))) return undefined;
  const real = await files.realPath(path);
  for (const folder of folders) if (real.startsWith(join(await files.realPath(folder), "/"))) return path;
  return undefined;
}
