import { mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const made: string[] = [];

/** A folder of the test's own, which is removed at the end. */
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

/** The files below a folder that have a text in their name or anywhere in their bytes. */
export async function tracesOf(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const path of await filesBelow(folder)) {
    const bytes = await readFile(join(folder, path)).catch(() => Buffer.alloc(0));
    if (path.includes(text) || bytes.includes(text)) found.push(path);
  }
  return found;
}

afterAll(async () => {
  await Promise.all(made.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
});
