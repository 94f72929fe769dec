import { dirname } from "node:path";

/** Limit on the depth. A request with a deeper folder only serves to keep the host busy. */
const MAX_LEVELS = 128;

/** A folder and all its parents, innermost first. */
export function upwards(folder: string): readonly string[] {
  const folders = [folder];
  for (let at = dirname(folder); at !== folders.at(-1) && folders.length < MAX_LEVELS; at = dirname(at)) {
    folders.push(at);
  }
  return folders;
}
