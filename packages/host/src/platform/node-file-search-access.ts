import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type AllowedFolders, isInAllowedFolders } from "./allowed-folders.ts";
import type { FileSearchAccess, SearchEntry } from "./file-search-access.ts";

const MAX_TEXT_BYTES = 1024 * 1024;
const { O_RDONLY, O_DIRECTORY, O_NONBLOCK } = constants;

/** Synchronous file access for the file search. It blocks, so it is meant for a worker thread of its own. */
export function nodeFileSearchAccess(): FileSearchAccess {
  const home = homedir();
  return {
    userFolders: { home, config: process.env["XDG_CONFIG_HOME"] || join(home, ".config") },
    list: (folder, allowed) =>
      undefinedOnError(() => (allowed === null ? entriesOf(folder) : entriesWithin(folder, allowed))) ?? [],
    follow: (path, allowed) =>
      undefinedOnError(() => {
        const real = realpathSync.native(path);
        return isInAllowedFolders(real, allowed)
          ? { real, isFolder: statSync(real).isDirectory() }
          : undefined;
      }),
    readText: (path, allowed) => undefinedOnError(() => smallText(path, allowed)),
  };
}

function entriesOf(folder: string): readonly SearchEntry[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  const listed: SearchEntry[] = [];
  // Names that are not valid UTF-8 are skipped, because a client could not request such a file.
  for (const entry of entries)
    if (!entry.name.includes("\ufffd")) listed.push({ name: entry.name, kind: kindOf(entry) });
  return listed;
}

/** Lists the folder that was opened, if it is in the allowed folders. */
function entriesWithin(folder: string, allowed: AllowedFolders): readonly SearchEntry[] {
  if (process.platform !== "linux") {
    const real = realpathSync.native(folder);
    return isInAllowedFolders(real, allowed) ? entriesOf(real) : [];
  }
  return withOpened(folder, O_DIRECTORY, allowed, (fd) => entriesOf(`/proc/self/fd/${fd}`)) ?? [];
}

function smallText(path: string, allowed: AllowedFolders | null): string | undefined {
  return withOpened(path, 0, allowed, (fd) => {
    const found = fstatSync(fd);
    return found.isFile() && found.size <= MAX_TEXT_BYTES ? readFileSync(fd, "utf8") : undefined;
  });
}

/** Opens a path, and runs `work` if the opened file is in the allowed folders. */
function withOpened<T>(
  path: string,
  flags: number,
  allowed: AllowedFolders | null,
  work: (fd: number) => T,
): T | undefined {
  // A path that visibly leads outside is refused before the open.
  if (allowed !== null && !isInAllowedFolders(realpathSync.native(path), allowed)) return undefined;
  const fd = openSync(path, O_RDONLY | O_NONBLOCK | flags);
  try {
    const isInside =
      allowed === null ||
      process.platform !== "linux" ||
      isInAllowedFolders(readlinkSync(`/proc/self/fd/${fd}`), allowed);
    return isInside ? work(fd) : undefined;
  } finally {
    closeSync(fd);
  }
}

function kindOf(entry: Dirent): SearchEntry["kind"] {
  return entry.isDirectory() ? "folder" : entry.isSymbolicLink() ? "link" : "file";
}

function undefinedOnError<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
