import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];

/** Creates a folder for the test. It is removed at the end of the test file. */
export async function freshFolder(name = "home"): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), `bobbin-${name}-`)));
  made.push(folder);
  return folder;
}

/** Makes a folder the top of a git repository, as far as anyone looks for one. */
export function markRepository(folder: string): void {
  mkdirSync(join(folder, ".git"), { recursive: true });
  writeFileSync(join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
}

/** The paths of all files below a folder, relative to it. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** All files and symlinks below a folder. Each text is read once. */
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

/** The files below a folder whose name or content contains a text. */
export async function tracesOf(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const path of await filesBelow(folder)) {
    const bytes = await readFile(join(folder, path)).catch(() => Buffer.alloc(0));
    if (path.includes(text) || bytes.includes(text)) found.push(path);
  }
  return found;
}

/** Removes the folders of `freshFolder`. test/support/clean-up.ts calls it at the end of every test file. */
export async function removeFreshFolders(): Promise<void> {
  const folders = made.splice(0);
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
}
