import { delimiter, dirname } from "node:path";

/** Limit on the depth. A request with a deeper folder only serves to keep the host busy. */
const MAX_LEVELS = 128;

/**
 * A folder and all its parents, innermost first, for a search for a repository. As for git, the folders of
 * GIT_CEILING_DIRECTORIES are not among the parents, and neither is what is above them.
 */
export function upwards(folder: string): readonly string[] {
  const ceilings = process.env["GIT_CEILING_DIRECTORIES"]?.split(delimiter) ?? [];
  const folders = [folder];
  for (let at = dirname(folder); at !== folders.at(-1) && folders.length < MAX_LEVELS; at = dirname(at)) {
    if (ceilings.includes(at)) break;
    folders.push(at);
  }
  return folders;
}
