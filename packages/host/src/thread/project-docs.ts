import { join } from "node:path";
import type { ProjectDocSettings } from "../core/life/project-docs.ts";
import type { ProjectDoc } from "../core/life/records.ts";
import type { Files } from "../platform/platform.ts";
import { upwards } from "../platform/upwards.ts";

const NAMES = ["AGENTS.override.md", "AGENTS.md"];

/**
 * `AGENTS.md` of the home, then those from the repository's root down to `cwd`; outside of a repository only that
 * of `cwd`. All of them together are bounded.
 */
export async function readProjectDocs(
  files: Pick<Files, "readText" | "exists">,
  home: string,
  cwd: string,
  { maxBytes, fallbackNames }: ProjectDocSettings,
): Promise<readonly ProjectDoc[]> {
  const names = [...NAMES, ...fallbackNames];
  const folders = await foldersOf(files, home, cwd);
  const found = await Promise.all(
    folders.map((folder, at) => docIn(files, folder, at === 0 ? NAMES : names)),
  );
  const docs: ProjectDoc[] = [];
  let left = maxBytes;
  for (const doc of found) {
    if (doc === undefined || left === 0) continue;
    const bytes = Buffer.from(doc.text);
    docs.push({ path: doc.path, text: bytes.length <= left ? doc.text : cut(bytes, left) });
    left -= Math.min(left, bytes.length);
  }
  return docs;
}

/** No more than so many bytes, and no half of a character. */
function cut(bytes: Buffer, most: number): string {
  let end = most;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}

async function foldersOf(
  files: Pick<Files, "exists">,
  home: string,
  cwd: string,
): Promise<readonly string[]> {
  const passed: string[] = [];
  for (const folder of upwards(cwd)) {
    passed.push(folder);
    // A folder that is not ours to look into is as good as none.
    if (await files.exists(join(folder, ".git")).catch(() => false)) return [home, ...passed.reverse()];
  }
  return [home, cwd];
}

async function docIn(
  files: Pick<Files, "readText">,
  folder: string,
  names: readonly string[],
): Promise<ProjectDoc | undefined> {
  for (const name of names) {
    const path = join(folder, name);
    // A folder of that name, or a file that is not ours to read, is as good as none.
    const text = await files.readText(path).catch(() => undefined);
    if (text !== undefined && text.trim() !== "") return { path, text };
  }
  return undefined;
}
