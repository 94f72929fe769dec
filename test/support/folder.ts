import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];

/** A folder of the test's own, which is removed at the end of the test file. */
export async function freshFolder(name = "home"): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), `bobbin-${name}-`)));
  made.push(folder);
  return folder;
}

/** Every file below a folder, by its path within it. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** Every file and link below a folder, with its text, which is read once. */
export function textsBelow(folder: string): { paths: string[]; text(path: string): string } {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const texts = new Map<string, string>();
  return {
    paths: entries.filter((one) => !one.isDirectory()).map((one) => join(one.parentPath, one.name)),
    text(path) {
      const text = texts.get(path) ?? readFileSync(path, "utf8");
      texts.set(path, text);
      return text;
    },
  };
}

/** The files below a folder that have a text in their name or anywhere in their bytes. */
export async function tracesOf(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const path of await filesBelow(folder)) {
    const bytes = await readFile(join(folder, path)).catch(() => Buffer.alloc(0));
    if (path.includes(text) || bytes.includes(text)) found.push(path);
  }
  return found;
}

/** Removes what `freshFolder` made. Every test file ends with it: test/support/clean-up.ts. */
export async function removeFreshFolders(): Promise<void> {
  const folders = made.splice(0);
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
}
