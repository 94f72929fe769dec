import { join } from "node:path";
import type { PromptWarning, SavedPrompt } from "@bobbin/protocol";
import type { ReadableFiles } from "../platform/platform.ts";
import type { PromptFolder } from "./prompt-folders.ts";
import { PromptError, type PromptText, parsePrompt } from "./prompt-text.ts";

type PromptFiles = Pick<ReadableFiles, "list" | "openRead">;

export interface FoundPrompt {
  readonly prompt: SavedPrompt;
  readonly content: string;
}

export interface PromptSearch {
  /** Sorted by name. */
  readonly prompts: readonly FoundPrompt[];
  readonly warnings: readonly PromptWarning[];
}

/** Limit on the prompts of one folder and the folders below it. */
const MAX_PROMPTS = 500;
const MAX_FOLDERS = 200;
/** Limit on the depth of folders. It also ends a search that follows a symlink to a parent folder. */
const MAX_DEPTH = 4;
const MAX_BYTES = 128 * 1024;
const MAX_NAME = 64;
/** Files that are read at the same time. */
const AT_ONCE = 16;

/**
 * Reads the prompts in folders. `git/commit.md` has the name `git:commit`. A file that cannot be used causes a
 * warning.
 */
export async function readPrompts(
  files: PromptFiles,
  folders: readonly PromptFolder[],
): Promise<PromptSearch> {
  const prompts = new Map<string, FoundPrompt>();
  const warnings: PromptWarning[] = [];
  for (const { path: root, source } of folders) {
    const found = await promptFiles(files, root);
    if (found.length > MAX_PROMPTS)
      warnings.push({ path: root, message: `only the first ${MAX_PROMPTS} prompts are offered` });
    const offered = found.slice(0, MAX_PROMPTS);
    for (let from = 0; from < offered.length; from += AT_ONCE) {
      const batch = offered.slice(from, from + AT_ONCE);
      const read = await Promise.all(batch.map((file) => readPrompt(files, file)));
      for (const [at, prompt] of read.entries()) {
        const { name, path } = batch[at]!;
        const other = prompts.get(name)?.prompt.path;
        if (prompt instanceof PromptError) warnings.push({ path, message: prompt.message });
        else if (other !== undefined)
          warnings.push({ path, message: `is not offered, because ${other} has the same name` });
        else {
          const { content, ...head } = prompt;
          prompts.set(name, { prompt: { name, ...head, source, path }, content });
        }
      }
    }
  }
  const sorted = [...prompts.values()].sort((a, b) => compare(a.prompt.name, b.prompt.name));
  return { prompts: sorted, warnings };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

interface PromptFile {
  readonly name: string;
  readonly path: string;
}

/**
 * Finds the Markdown files below a folder, except hidden ones, in the order of their names. Symlinks are followed.
 * Folders that cannot be read are skipped.
 */
async function promptFiles(files: PromptFiles, root: string): Promise<readonly PromptFile[]> {
  const found: PromptFile[] = [];
  let level = [{ path: root, prefix: "" }];
  let left = MAX_FOLDERS;
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    level = level.slice(0, left);
    left -= level.length;
    const below: typeof level = [];
    for (const folder of level) {
      for (const { name, folder: isFolder } of await files.list(folder.path).catch(() => [])) {
        if (name.startsWith(".")) continue;
        const path = join(folder.path, name);
        const stem = /^(.+)\.md$/i.exec(name)?.[1];
        if (!isFolder && stem !== undefined) found.push({ name: folder.prefix + stem, path });
        // A symlink is not listed as a folder. The list of a file without an extension fails, and is skipped.
        else if (isFolder || !name.includes(".")) below.push({ path, prefix: `${folder.prefix}${name}:` });
      }
    }
    level = below;
  }
  return found.sort((a, b) => compare(a.name, b.name) || compare(a.path, b.path));
}

async function readPrompt(files: PromptFiles, { name, path }: PromptFile): Promise<PromptText | PromptError> {
  try {
    if (/[\s\p{C}]/u.test(name) || name.startsWith("mcp:"))
      throw new PromptError("the name of a prompt has no spaces, and does not begin with mcp:");
    if (name.length > MAX_NAME) throw new PromptError(`the name is longer than ${MAX_NAME} characters`);
    return parsePrompt(await readText(files, path));
  } catch (cause) {
    return cause instanceof PromptError ? cause : new PromptError((cause as Error).message);
  }
}

async function readText(files: PromptFiles, path: string): Promise<string> {
  const file = await files.openRead(path);
  if (file === undefined) throw new PromptError("the file is gone");
  try {
    if ((await file.size()) > MAX_BYTES) throw new PromptError(`the file is larger than ${MAX_BYTES} bytes`);
    return new TextDecoder().decode(await file.read(0, MAX_BYTES));
  } finally {
    await file.close();
  }
}
