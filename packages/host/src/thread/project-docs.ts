import { dirname, join } from "node:path";
import type { ProjectDoc } from "../core/life/records.ts";
import type { Files } from "../platform/platform.ts";

const NAMES = ["AGENTS.override.md", "AGENTS.md"];
const MAX_CHARACTERS = 32 * 1024;

/**
 * `AGENTS.md` of the home, then those from the repository's root down to `cwd`; outside of a repository only that
 * of `cwd`. All of them together are bounded.
 */
export async function readProjectDocs(
  files: Pick<Files, "readText" | "exists">,
  home: string,
  cwd: string,
): Promise<readonly ProjectDoc[]> {
  const found = await Promise.all((await foldersOf(files, home, cwd)).map((folder) => docIn(files, folder)));
  const docs: ProjectDoc[] = [];
  let left = MAX_CHARACTERS;
  for (const doc of found) {
    if (doc === undefined || left === 0) continue;
    const text = doc.text.slice(0, left);
    left -= text.length;
    docs.push({ path: doc.path, text });
  }
  return docs;
}

async function foldersOf(
  files: Pick<Files, "exists">,
  home: string,
  cwd: string,
): Promise<readonly string[]> {
  const upwards: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    upwards.push(folder);
    // A folder that is not ours to look into is as good as none.
    if (await files.exists(join(folder, ".git")).catch(() => false)) return [home, ...upwards.reverse()];
    if (folder === dirname(folder)) return [home, cwd];
  }
}

async function docIn(files: Pick<Files, "readText">, folder: string): Promise<ProjectDoc | undefined> {
  for (const name of NAMES) {
    const path = join(folder, name);
    // A folder of that name, or a file that is not ours to read, is as good as none.
    const text = await files.readText(path).catch(() => undefined);
    if (text !== undefined && text.trim() !== "") return { path, text };
  }
  return undefined;
}
