import { dirname } from "node:path";

/** Nobody works deeper than this; who names a deeper folder wants us to be busy. */
const MAX_LEVELS = 128;

/** A folder, and those above it. */
export function upwards(folder: string): readonly string[] {
  const folders = [folder];
  for (let at = dirname(folder); at !== folders.at(-1) && folders.length < MAX_LEVELS; at = dirname(at)) {
    folders.push(at);
  }
  return folders;
}
