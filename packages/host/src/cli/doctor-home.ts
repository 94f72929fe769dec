import { mkdir, mkdtemp, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Verdict } from "./doctor-check.ts";

/** Whether threads can be kept there. Really tries, and takes back what it made. */
export async function homeFinding(home: string): Promise<Verdict> {
  const before = await stat(home).catch(() => undefined);
  if (before && !before.isDirectory()) return problem(`${home} is a file`, "a folder");
  const made: string[] = [];
  try {
    // One by one: Node's recursive mkdir does not end where a parent can not hold folders at all (/proc).
    for (const folder of await missing(home)) {
      await mkdir(folder);
      made.unshift(folder);
    }
    await rmdir(await mkdtemp(join(home, ".doctor-")));
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (!before) return problem(`${home} can not be made: ${message}`, "a writable folder");
    const refused = code === "EACCES" || code === "EPERM" || code === "EROFS";
    return problem(
      `${home} ${refused ? "is not writable" : `can not be used: ${message}`}`,
      "a writable folder",
    );
  } finally {
    // Someone may have put something there meanwhile: then it stays.
    for (const folder of made) await rmdir(folder).catch(() => {});
  }
  return { works: true, found: before ? home : `${home} (made when it is first needed)` };
}

/** The folders on the way that are not there, outermost first. */
async function missing(folder: string): Promise<string[]> {
  const found = await stat(folder).catch(() => undefined);
  return found || folder === dirname(folder) ? [] : [...(await missing(dirname(folder))), folder];
}

function problem(found: string, wanted: string): Verdict {
  return { works: false, found, advice: `Set BOBBIN_HOME to ${wanted}, or make this one so.` };
}
