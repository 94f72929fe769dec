// Stores a tool server's data in files on Node, one file per entry. Files are written atomically, so that a crash needs
// no repair.
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { lstat, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Folders, Store, ToolServerData } from "../store.ts";

/**
 * Keeps a tool server's state and the folders of its threads on disk, readable only by the owner of the process. Only
 * one server at a time may use the folder.
 *
 * @example
 * const server = createToolServer({ name: "sandbox", auth: bearer(token), data: folderData("./data"), tools });
 */
export function folderData(folder: string): ToolServerData {
  return { store: new FolderStore(join(folder, "entries")), folders: new ThreadFolders(folder) };
}

// Ids from clients are hashed to file names: they may look like paths, be too long, or differ only in case.
const hashed = (...names: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(names)).digest("hex");

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

/** fsyncs a file (`r+`) or a folder (`r`). Some systems cannot sync folders, so errors on folders are ignored. */
async function syncPath(path: string, flags: "r" | "r+"): Promise<void> {
  const opened = await open(path, flags).catch((error: unknown) => {
    if (flags === "r") return undefined;
    throw error;
  });
  try {
    await opened?.sync();
  } catch (error) {
    if (flags === "r+") throw error;
  } finally {
    await opened?.close();
  }
}

class FolderStore implements Store {
  readonly #folder: string;
  #made = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.#read(this.#path(key)))?.[1];
  }

  async set(key: string, value: string, { sync = false }: { sync?: boolean } = {}): Promise<void> {
    if (!this.#made) mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#made = true;
    const next = join(this.#folder, `${randomUUID()}.next`);
    // Synchronous: a small write into the page cache takes less time than a round trip through Node's thread pool.
    writeFileSync(next, JSON.stringify([key, value]), { flag: "wx", mode: 0o600 });
    if (sync) await syncPath(next, "r+");
    renameSync(next, this.#path(key));
    if (sync) await syncPath(this.#folder, "r");
  }

  async delete(key: string): Promise<void> {
    try {
      unlinkSync(this.#path(key));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  async list(prefix: string): Promise<readonly (readonly [string, string])[]> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    const found: (readonly [string, string])[] = [];
    for (const name of names) {
      // Deletes the temporary files of a crashed process, which never acknowledged them. After this process has written
      // an entry, a temporary file may be its own.
      if (name.endsWith(".next") && !this.#made) unlinkSync(join(this.#folder, name));
      if (!name.endsWith(".json")) continue;
      const entry = await this.#read(join(this.#folder, name));
      if (entry?.[0].startsWith(prefix)) found.push(entry);
    }
    return found;
  }

  async #read(path: string): Promise<readonly [string, string] | undefined> {
    try {
      return JSON.parse(await readFile(path, "utf8"));
    } catch (error) {
      if (isMissing(error)) return undefined;
      if (!(error instanceof SyntaxError)) throw error;
      // A power cut can damage an entry that was not synced. The damaged file is renamed for inspection, and the
      // other entries are still read.
      await rename(path, `${path}.bad`);
      return undefined;
    }
  }

  #path(key: string): string {
    return join(this.#folder, `${hashed(key)}.json`);
  }
}

class ThreadFolders implements Folders {
  readonly #folder: string;
  readonly #trash: string;
  readonly #aside: string;

  constructor(folder: string) {
    this.#folder = join(folder, "threads");
    this.#trash = join(folder, "trash");
    this.#aside = join(folder, "aside");
  }

  async open(tenant: string, thread: string): Promise<string> {
    const path = join(this.#folder, hashed(tenant, thread));
    await mkdir(path, { recursive: true, mode: 0o700 });
    // A symlink could have been planted there, and would lead the tool out of the data folder.
    if (!(await lstat(path)).isDirectory())
      throw new Error(`the folder of a thread is not a directory: ${path}`);
    return path;
  }

  async find(tenant: string, thread: string): Promise<string | undefined> {
    const path = join(this.#folder, hashed(tenant, thread));
    const found = await lstat(path).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    return found?.isDirectory() ? path : undefined;
  }

  /** Moves the folder to the trash first, so that a crash never leaves a half-deleted folder to a later `open`. */
  async remove(tenant: string, thread: string): Promise<void> {
    await this.#move(tenant, thread, this.#trash);
    for (const name of await readdir(this.#trash))
      await rm(join(this.#trash, name), { recursive: true, force: true });
  }

  setAside(tenant: string, thread: string): Promise<string | undefined> {
    return this.#move(tenant, thread, this.#aside);
  }

  async #move(tenant: string, thread: string, to: string): Promise<string | undefined> {
    await mkdir(to, { recursive: true, mode: 0o700 });
    const path = join(to, randomUUID());
    try {
      await rename(join(this.#folder, hashed(tenant, thread)), path);
      return path;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }
}
