import { randomBytes } from "node:crypto";
import nodeFs from "node:fs";
import { dirname, resolve } from "node:path";
import { promisify } from "node:util";
import { confinedFiles, realPath } from "./confined-files.ts";
import { FsyncQueue } from "./fsync-queue.ts";
import { isMissingPath, LocalDiskFolders } from "./local-disk-folders.ts";
import { makeFolders } from "./make-folders.ts";
import { foldersWithNewEntries, NodeAppendFile, promised } from "./node-append-file.ts";
import {
  checkUtf8,
  isSmall,
  NodeReadFile,
  openFile,
  type ReadCalls,
  readSmall,
  readWhole,
  sizeOfFile,
} from "./node-read-file.ts";
import type { Files } from "./platform.ts";

// `node:fs/promises` is avoided here: loading it would slow down every start.
const lstat = promisify(nodeFs.lstat);
const readdir = promisify(nodeFs.readdir);
const readFile = promisify(nodeFs.readFile);
const realpath = promisify(nodeFs.realpath);
const readlink = promisify(nodeFs.readlink);
const rename = promisify(nodeFs.rename);
const rm = promisify(nodeFs.rm);
const stat = promisify(nodeFs.stat);
const symlink = promisify(nodeFs.symlink);
const unlink = promisify(nodeFs.unlink);

// Non-blocking, as for reading: opening a pipe without a reader would occupy a thread of the pool forever.
const APPEND =
  nodeFs.constants.O_WRONLY |
  nodeFs.constants.O_APPEND |
  nodeFs.constants.O_CREAT |
  nodeFs.constants.O_NONBLOCK;
const OVERWRITE = nodeFs.constants.O_WRONLY | nodeFs.constants.O_NONBLOCK;
const NEW = nodeFs.constants.O_WRONLY | nodeFs.constants.O_CREAT | nodeFs.constants.O_EXCL;
// Only the owner may read the files, because the home contains users' conversations with their agents.
const FILE_MODE = 0o600;

/** The real file system. Tests pass in calls that fail on demand; then no call runs synchronously. */
export function nodeFiles(calls: ReadCalls = nodeFs): Files {
  const localDisk = calls === nodeFs ? new LocalDiskFolders() : undefined;
  const syncs = new FsyncQueue(calls);
  const open = (path: string, flags: number): Promise<number> =>
    new Promise((done, fail) =>
      calls.open(path, flags, FILE_MODE, (cause, fd) => (cause === null ? done(fd) : fail(cause))),
    );
  const close = (fd: number): Promise<void> => promised((answer) => calls.close(fd, answer));
  const syncFolders = async (folders: Iterable<string>): Promise<void> => {
    await Promise.all([...new Set(folders)].map((folder) => syncs.folder(folder)));
  };

  const overwrite = (fd: number, bytes: Buffer, position: number): Promise<void> =>
    new Promise((done, fail) => {
      let at = 0;
      const more = (): void =>
        calls.write(fd, bytes, at, bytes.length - at, position + at, (cause, count) => {
          if (cause !== null) return fail(cause);
          at += count;
          if (at === bytes.length) return done();
          if (count === 0) return fail(new Error("the file accepts no more bytes"));
          more();
        });
      more();
    });

  const files: Files = {
    async readText(path, options) {
      const seen = localDisk?.lstatIfExists(path);
      if (seen !== undefined && seen.value === undefined) return undefined;
      // Only small regular files on the local disk are read synchronously. Others may block, so the thread pool reads
      // them.
      const read = isSmall(seen?.value) ? localDisk?.at(path, () => readSmall(path)) : undefined;
      const text = read?.value ?? (await undefinedIfMissing(readWhole(calls, path)));
      if (options?.strict === true && text?.includes("\uFFFD")) checkUtf8(await readFile(path), path);
      return text;
    },

    async replaceText(requested, text) {
      // If the path is a symlink, its target is replaced: users keep such files elsewhere and link to them.
      const path = (await undefinedIfMissing(realpath(requested))) ?? (await missingTarget(requested));
      const draft = `${path}.${randomBytes(6).toString("hex")}.tmp`;
      const { result: fd, made } = await withFolders(draft, () => open(draft, NEW));
      try {
        const file = new NodeAppendFile(calls, { fd, path: draft, size: 0, newIn: [], syncs });
        try {
          await file.append(Buffer.from(text, "utf8"));
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(draft, path);
      } catch (cause) {
        await unlink(draft).catch(() => {});
        throw cause;
      }
      await syncFolders(foldersWithNewEntries(path, made));
    },

    async openAppend(path, options) {
      const fresh = options?.fresh === true;
      const flags = fresh ? APPEND | nodeFs.constants.O_EXCL : APPEND;
      const { result: fd, made } = await withFolders(path, () => open(path, flags));
      try {
        const size = fresh ? 0 : await sizeOfFile(calls, fd, path);
        // An empty file may be a new one, whose directory entry is not synced yet.
        return new NodeAppendFile(calls, {
          fd,
          path,
          size,
          newIn: size === 0 ? foldersWithNewEntries(path, made) : [],
          syncs,
          localDisk,
        });
      } catch (cause) {
        await close(fd);
        throw cause;
      }
    },

    async openRead(path) {
      const opened = await undefinedIfMissing(openFile(calls, path, localDisk));
      return opened && new NodeReadFile(calls, opened.fd, path, localDisk);
    },

    async list(folder) {
      const entries = (await undefinedIfMissing(readdir(folder, { withFileTypes: true }))) ?? [];
      return entries.map((entry) => ({ name: entry.name, folder: entry.isDirectory() }));
    },

    // Symlinks are not followed, because claims are symlinks to targets that do not exist.
    async exists(path) {
      const seen = localDisk?.lstatIfExists(path) ?? { value: await undefinedIfMissing(lstat(path)) };
      return seen.value !== undefined;
    },

    async stamps(paths) {
      const stamps: number[] = [];
      for (const path of paths) {
        const seen = localDisk?.lstatIfExists(path);
        // The target of a symlink may be on a file system that stalls.
        const isRemote = seen === undefined || seen.value?.isSymbolicLink() === true;
        const found = isRemote ? await undefinedIfMissing(stat(path)) : seen.value;
        if (found === undefined) stamps.push(0, 0, 0);
        // For a folder only its identity counts. The files in it have their own stamps.
        else if (found.isDirectory()) stamps.push(found.ino, 0, 0);
        // File system timestamps are coarse: two changes in quick succession may have the same timestamp.
        else if (Math.abs(Date.now() - found.ctimeMs) < (isRemote ? COARSE_MS : TICK_MS)) return undefined;
        else stamps.push(found.ino, found.size, found.ctimeMs);
      }
      return stamps;
    },

    realPath,

    within: (isAllowed) => confinedFiles(calls, files, isAllowed),

    async rename(from, to, options) {
      let made: string | undefined;
      try {
        await rename(from, to);
      } catch (cause) {
        // Folders are created only if the target's folder is missing. If the source is missing, no folder must be
        // left behind.
        if (codeOf(cause) !== "ENOENT" || (await undefinedIfMissing(lstat(from))) === undefined) throw cause;
        made = await makeFolders(dirname(to));
        await rename(from, to);
      }
      if (!options?.unsynced) await syncFolders([dirname(from), ...foldersWithNewEntries(to, made)]);
    },

    async remove(path, options) {
      try {
        await unlink(path);
      } catch (cause) {
        const code = codeOf(cause);
        if (code === "ENOENT" || code === "ENOTDIR") return;
        // For a folder, Linux reports EISDIR, macOS and Windows report EPERM.
        if (code !== "EISDIR" && code !== "EPERM") throw cause;
        await rm(path, { recursive: true, force: true });
      }
      if (options?.synced) await syncFolders([dirname(path)]);
    },

    async erase(path, position, length) {
      const fd = await undefinedIfMissing(open(path, OVERWRITE));
      if (fd === undefined) return;
      try {
        await overwrite(fd, Buffer.alloc(length, " "), position);
      } finally {
        await close(fd);
      }
    },

    async sync(path) {
      await undefinedIfMissing(syncs.folder(path));
    },

    async claim(path, text) {
      try {
        await withFolders(path, () => makeClaim(path, text));
        return true;
      } catch (cause) {
        if (codeOf(cause) === "EEXIST") return false;
        throw cause;
      }
    },

    async claimed(path) {
      if (process.platform === "win32") return undefinedIfMissing(readFile(path, "utf8"));
      try {
        return await readlink(path);
      } catch (cause) {
        const code = codeOf(cause);
        if (code === "ENOENT" || code === "ENOTDIR") return undefined;
        if (code === "EINVAL") return undefinedIfMissing(readFile(path, "utf8"));
        throw cause;
      }
    },
  };
  return files;

  /**
   * A symlink is created together with its text in one system call. A file is used where symlinks are not supported.
   */
  async function makeClaim(path: string, text: string): Promise<void> {
    if (process.platform !== "win32" && text !== "") {
      try {
        return await symlink(text, path);
      } catch (cause) {
        if (!NO_SYMLINK_CODES.has(codeOf(cause) ?? "")) throw cause;
      }
    }
    const file = new NodeAppendFile(calls, { fd: await open(path, NEW), path, size: 0, newIn: [], syncs });
    try {
      await file.append(Buffer.from(text, "utf8"));
    } finally {
      await file.close();
    }
  }
}

/** How coarse timestamps can be: on any file system, and on local ones, where they follow the system's tick. */
const COARSE_MS = 2000;
const TICK_MS = 100;
/** Limit on the symlinks that are followed, as in Linux. */
const MAX_LINKS = 40;
const NO_SYMLINK_CODES: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** Runs `run`. If the folder of `path` is missing, creates it and runs `run` again. Usually the folder exists. */
async function withFolders<T>(
  path: string,
  run: () => Promise<T>,
): Promise<{ result: T; made: string | undefined }> {
  try {
    return { result: await run(), made: undefined };
  } catch (cause) {
    if (codeOf(cause) !== "ENOENT") throw cause;
    const made = await makeFolders(dirname(path));
    return { result: await run(), made };
  }
}

async function undefinedIfMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (cause) {
    if (isMissingPath(cause)) return undefined;
    throw cause;
  }
}

/** Where a file that does not exist is to be created: the end of the symlinks at `path`, unless they form a cycle. */
async function missingTarget(path: string): Promise<string> {
  let at = path;
  for (let link = 0; link < MAX_LINKS; link++) {
    const target = await readlink(at).catch(() => undefined);
    if (target === undefined) return at;
    at = resolve(await realpath(dirname(at)), target);
  }
  return path;
}

function codeOf(cause: unknown): string | undefined {
  return (cause as NodeJS.ErrnoException).code;
}
