import { constants } from "node:fs";
import { open, readlink } from "node:fs/promises";
import type { HeldPath } from "./platform.ts";

/** Linux's `O_PATH`, which Node does not export. It refers to a file or folder without opening it. */
const O_PATH = 0o10000000;

/** Holds a file or folder; undefined if it does not exist, or if the path leads over a symlink. */
export async function holdPath(path: string): Promise<HeldPath | undefined> {
  const handle = await open(path, O_PATH | constants.O_NOFOLLOW).catch(() => undefined);
  if (handle === undefined) return undefined;
  const isLink = (await handle.stat()).isSymbolicLink();
  // Where the descriptor leads is known to the kernel, whatever became of the path.
  if (isLink || (await readlink(`/proc/self/fd/${handle.fd}`)) !== path) {
    await handle.close();
    return undefined;
  }
  return { descriptor: handle.fd, close: () => handle.close() };
}
