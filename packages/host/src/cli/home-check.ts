import { mkdir, mkdtemp, realpath, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Problem } from "./problem-and-advice.ts";

/** SQLite opens files whose paths have at most 504 bytes; the longest one in a home is `live/UUID.lock.new`. */
const MAX_HOME_BYTES = 504 - "/live/01a1e11e-8538-703d-834a-e6eb57dc6a9a.lock.new".length;

export interface HomeCheck {
  readonly problem?: Problem;
  /** Whether the home existed before the check. */
  readonly existed: boolean;
  /** Removes the folders that the check created. */
  undo(): Promise<void>;
}

/** Checks whether a home is writable, by creating it and a folder in it. */
export async function checkHome(home: string): Promise<HomeCheck> {
  const before = await stat(home).catch(() => undefined);
  const made: string[] = [];
  const undo = async (): Promise<void> => {
    // If another process has put something into the folder, the removal fails and the folder stays.
    for (const folder of made.splice(0)) await rmdir(folder).catch(() => {});
  };
  const done = (problem?: Problem): HomeCheck => ({
    ...(problem && { problem }),
    existed: before !== undefined,
    undo,
  });
  if (before && !before.isDirectory()) return done(unusable(`${home} is not a folder`));
  try {
    for (const folder of await missing(home)) {
      await mkdir(folder, 0o700);
      made.unshift(folder);
    }
    await rmdir(await mkdtemp(join(home, ".check-")));
    const bytes = Buffer.byteLength(await realpath(home));
    if (bytes <= MAX_HOME_BYTES) return done();
    return done({
      found: `${home} is too long: its locks can be opened in a path of at most ${MAX_HOME_BYTES} bytes, and this has ${bytes}`,
      advice: "Set BOBBIN_HOME to a folder with a shorter path.",
    });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (!before) return done(unusable(`${home} cannot be created: ${message}`));
    const refused = code === "EACCES" || code === "EPERM" || code === "EROFS";
    return done(unusable(`${home} ${refused ? "is not writable" : `cannot be used: ${message}`}`));
  }
}

/** The folder and its parents that do not exist, outermost first. */
async function missing(folder: string): Promise<string[]> {
  const found = await stat(folder).catch(() => undefined);
  return found || folder === dirname(folder) ? [] : [...(await missing(dirname(folder))), folder];
}

function unusable(found: string): Problem {
  return { found, advice: "Make it a writable folder, or set BOBBIN_HOME to one." };
}
