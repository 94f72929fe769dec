import { mkdir, mkdtemp, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Problem } from "./problem.ts";

export interface HomeCheck {
  readonly problem?: Problem;
  /** Whether the home was there before. */
  readonly existed: boolean;
  /** Removes the folders that the check made. */
  undo(): Promise<void>;
}

/** Checks whether threads can be kept in a home, by trying. */
export async function checkHome(home: string): Promise<HomeCheck> {
  const before = await stat(home).catch(() => undefined);
  const made: string[] = [];
  const undo = async (): Promise<void> => {
    // Someone may have put something there meanwhile: then it stays.
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
    return done();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (!before) return done(unusable(`${home} cannot be created: ${message}`));
    const refused = code === "EACCES" || code === "EPERM" || code === "EROFS";
    return done(unusable(`${home} ${refused ? "is not writable" : `cannot be used: ${message}`}`));
  }
}

/** The folders on the way that are not there, outermost first. */
async function missing(folder: string): Promise<string[]> {
  const found = await stat(folder).catch(() => undefined);
  return found || folder === dirname(folder) ? [] : [...(await missing(dirname(folder))), folder];
}

function unusable(found: string): Problem {
  return { found, advice: "Make it a writable folder, or set BOBBIN_HOME to one." };
}
