import nodeFs from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";

// Not from `node:fs/promises`, which every start would have to load.
const mkdir = promisify(nodeFs.mkdir);
const stat = promisify(nodeFs.stat);

/** A home holds what people say to their agents, so only its owner may enter. */
const FOLDER_MODE = 0o700;

/**
 * Makes a folder and its missing parents. Resolves with the topmost one that was made, or undefined if all were there.
 *
 * Node's own recursive `mkdir` never ends under a parent that exists and can hold no folders, such as `/proc`: it takes
 * every ENOENT for a missing parent.
 */
export async function makeFolders(folder: string, mode = FOLDER_MODE): Promise<string | undefined> {
  const cause = await refusal(folder, mode);
  if (cause === undefined) return folder;
  const parent = dirname(folder);
  if (cause.code === "ENOENT" && parent !== folder) {
    const topmost = await makeFolders(parent, mode);
    const again = await refusal(folder, mode);
    if (again === undefined) return topmost ?? folder;
    // Another process may have made it meanwhile.
    if (again.code === "EEXIST" && (await isFolder(folder))) return topmost;
    throw again;
  }
  if (await isFolder(folder)) return undefined;
  throw cause;
}

async function refusal(folder: string, mode: number): Promise<NodeJS.ErrnoException | undefined> {
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
