import nodeFs from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";

// `node:fs/promises` is avoided here: loading it would slow down every start.
const mkdir = promisify(nodeFs.mkdir);
const stat = promisify(nodeFs.stat);

/** Only the owner may enter, because the home contains users' conversations with their agents. */
const FOLDER_MODE = 0o700;

/**
 * Creates a folder and its missing parents. Resolves with the topmost folder that it created, undefined if all
 * existed. Node's recursive `mkdir` is not used: it never ends under a parent that exists and cannot hold folders,
 * such as `/proc`, because it takes every ENOENT for a missing parent.
 */
export async function makeFolders(folder: string, mode = FOLDER_MODE): Promise<string | undefined> {
  const cause = await mkdirError(folder, mode);
  if (cause === undefined) return folder;
  const parent = dirname(folder);
  if (cause.code === "ENOENT" && parent !== folder) {
    const topmost = await makeFolders(parent, mode);
    const again = await mkdirError(folder, mode);
    if (again === undefined) return topmost ?? folder;
    // Another process may have created the folder in between.
    if (again.code === "EEXIST" && (await isFolder(folder))) return topmost;
    throw again;
  }
  if (await isFolder(folder)) return undefined;
  throw cause;
}

async function mkdirError(folder: string, mode: number): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(folder, mode);
    return undefined;
  } catch (cause) {
    return cause as NodeJS.ErrnoException;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
