import { basename, dirname, join } from "node:path";
import type { ProjectDocSettings } from "../core/life/project-doc-settings.ts";
import type { ProjectDoc } from "../core/life/records.ts";
import { foldersFromRepositoryRoot } from "../platform/git-repository.ts";
import type { Files } from "../platform/platform.ts";

const NAMES = ["AGENTS.override.md", "AGENTS.md"];

/** File systems of the kernel, where files contain secrets of the host, such as its environment. */
const KERNEL_FOLDERS = ["/proc", "/sys", "/dev"];

type DocFiles = Pick<Files, "readText" | "exists" | "realPath">;

/**
 * Reads `AGENTS.md` of the home, then those from the repository's root down to `cwd`; outside of a repository, only
 * that of `cwd`. The total size is limited. A symlink into the home is not followed, because a command that cannot see
 * the home could create it and show a model what is there.
 */
export async function readProjectDocs(
  files: DocFiles,
  home: string,
  cwd: string,
  { maxBytes, fallbackNames }: ProjectDocSettings,
): Promise<readonly ProjectDoc[]> {
  const names = [...NAMES, ...fallbackNames];
  const folders = [home, ...((await foldersFromRepositoryRoot(files, cwd)) ?? [cwd])];
  const found = await Promise.all(
    folders.map((folder, at) =>
      at === 0
        ? docIn(files, folder, NAMES, async () => true)
        : docIn(files, folder, names, (path) => isOpen(files, path, home)),
    ),
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

/** Cuts the text after at most `most` bytes, without splitting a character. */
function cut(bytes: Buffer, most: number): string {
  let end = most;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}

async function docIn(
  files: Pick<Files, "readText">,
  folder: string,
  names: readonly string[],
  isAllowed: (path: string) => Promise<boolean>,
): Promise<ProjectDoc | undefined> {
  for (const name of names) {
    const path = join(folder, name);
    // A folder with that name, or an unreadable file, counts as missing.
    const text = await files.readText(path).catch(() => undefined);
    if (text !== undefined && text.trim() !== "" && (await isAllowed(path))) return { path, text };
  }
  return undefined;
}

/** Whether a file in the workspace is not a symlink, or one that leads neither into the home nor to the kernel. */
async function isOpen(files: Pick<Files, "realPath">, path: string, home: string): Promise<boolean> {
  const real = await files.realPath(path);
  if (real === path || real === join(await files.realPath(dirname(path)), basename(path))) return true;
  return ![await files.realPath(home), ...KERNEL_FOLDERS].some((folder) => real.startsWith(`${folder}/`));
}
