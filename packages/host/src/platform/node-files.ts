import { randomBytes } from "node:crypto";
import nodeFs from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { confinedFiles, realPath } from "./confined-files.ts";
import { makeFolders } from "./make-folders.ts";
import { leadsNowhere, NearFolders } from "./near-folders.ts";
import { called, foldersWithNews, NodeAppendFile } from "./node-append-file.ts";
import {
  isSmall,
  NodeReadFile,
  openFile,
  type ReadCalls,
  readSmall,
  readWhole,
  sizeOfFile,
} from "./node-read-file.ts";
import { NodeSyncs } from "./node-syncs.ts";
import type { Files } from "./platform.ts";

// Not from `node:fs/promises`, which every start would have to load.
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

// Not blocking, as for reading: an open of a pipe that nobody reads would hold a thread of the pool for good.
const APPEND =
  nodeFs.constants.O_WRONLY |
  nodeFs.constants.O_APPEND |
  nodeFs.constants.O_CREAT |
  nodeFs.constants.O_NONBLOCK;
const NEW = nodeFs.constants.O_WRONLY | nodeFs.constants.O_CREAT | nodeFs.constants.O_EXCL;
// A home holds what people say to their agents, so only its owner may read.
const FILE_MODE = 0o600;

/** The real file system. Tests hand in calls that fail on demand; then every call goes through them. */
export function nodeFiles(calls: ReadCalls = nodeFs): Files {
  const near = calls === nodeFs ? new NearFolders() : undefined;
  const syncs = new NodeSyncs(calls);
  const open = (path: string, flags: number): Promise<number> =>
    new Promise((done, fail) =>
      calls.open(path, flags, FILE_MODE, (cause, fd) => (cause === null ? done(fd) : fail(cause))),
    );
  const close = (fd: number): Promise<void> => called((answer) => calls.close(fd, answer));
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
          if (count === 0) return fail(new Error("the file takes no more bytes"));
          more();
        });
      more();
    });

  const files: Files = {
    async readText(path) {
      const seen = near?.lookAt(path);
      if (seen !== undefined && seen.value === undefined) return undefined;
      // Anything but a small file may block, or lead elsewhere.
      const read = isSmall(seen?.value) ? near?.at(path, () => readSmall(path)) : undefined;
      return read?.value ?? orUndefined(readWhole(calls, path));
    },

    async replaceText(given, text) {
      // People keep their files elsewhere and link to them: the link stays.
      const path = (await orUndefined(realpath(given))) ?? given;
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
      await syncFolders(foldersWithNews(path, made));
    },

    async openAppend(path, options) {
      const fresh = options?.fresh === true;
      const flags = fresh ? APPEND | nodeFs.constants.O_EXCL : APPEND;
      const { result: fd, made } = await withFolders(path, () => open(path, flags));
      try {
        const size = fresh ? 0 : await sizeOfFile(calls, fd, path);
        // An empty file may be one that was made just now; its name is then not safe in the folder yet.
        return new NodeAppendFile(calls, {
          fd,
          path,
          size,
          newIn: size === 0 ? foldersWithNews(path, made) : [],
          syncs,
          near,
        });
      } catch (cause) {
        await close(fd);
        throw cause;
      }
    },

    async openRead(path) {
      const opened = await orUndefined(openFile(calls, path, near));
      return opened && new NodeReadFile(calls, opened.fd, path, near);
    },

    async list(folder) {
      const entries = (await orUndefined(readdir(folder, { withFileTypes: true }))) ?? [];
      return entries.map((entry) => ({ name: entry.name, folder: entry.isDirectory() }));
    },

    // Not the file that a link points to: claims are links to nowhere.
    async exists(path) {
      const seen = near?.lookAt(path) ?? { value: await orUndefined(lstat(path)) };
      return seen.value !== undefined;
    },

    async stamps(paths) {
      const stamps: number[] = [];
      for (const path of paths) {
        const seen = near?.lookAt(path);
        // What a link leads to may be anywhere.
        const far = seen === undefined || seen.value?.isSymbolicLink() === true;
        const found = far ? await orUndefined(stat(path)) : seen.value;
        if (found === undefined) stamps.push(0, 0, 0);
        // A folder is there or not; what is in it has stamps of its own.
        else if (found.isDirectory()) stamps.push(found.ino, 0, 0);
        // Clocks of file systems are coarse: a second change may leave the time of the first.
        else if (Math.abs(Date.now() - found.ctimeMs) < (far ? COARSE_MS : TICK_MS)) return undefined;
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
        // Only a missing target folder is mended; a missing source must not leave folders behind.
        if (codeOf(cause) !== "ENOENT" || (await orUndefined(lstat(from))) === undefined) throw cause;
        made = await makeFolders(dirname(to));
        await rename(from, to);
      }
      if (!options?.unsynced) await syncFolders([dirname(from), ...foldersWithNews(to, made)]);
    },

    async remove(path, options) {
      try {
        await unlink(path);
      } catch (cause) {
        const code = codeOf(cause);
        if (code === "ENOENT" || code === "ENOTDIR") return;
        // Linux says EISDIR for a folder, macOS and Windows EPERM.
        if (code !== "EISDIR" && code !== "EPERM") throw cause;
        await rm(path, { recursive: true, force: true });
      }
      if (options?.synced) await syncFolders([dirname(path)]);
    },

    async erase(path, position, length) {
      const fd = await orUndefined(open(path, nodeFs.constants.O_WRONLY));
      if (fd === undefined) return;
      try {
        await overwrite(fd, Buffer.alloc(length, " "), position);
      } finally {
        await close(fd);
      }
    },

    async sync(path) {
      await orUndefined(syncs.folder(path));
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
      if (process.platform === "win32") return orUndefined(readFile(path, "utf8"));
      try {
        return await readlink(path);
      } catch (cause) {
        const code = codeOf(cause);
        if (code === "ENOENT" || code === "ENOTDIR") return undefined;
        if (code === "EINVAL") return orUndefined(readFile(path, "utf8"));
        throw cause;
      }
    },
  };
  return files;

  /** A link is made with its text in one system call; where there are none, a file does. */
  async function makeClaim(path: string, text: string): Promise<void> {
    if (process.platform !== "win32" && text !== "") {
      try {
        return await symlink(text, path);
      } catch (cause) {
        if (!NO_LINKS.has(codeOf(cause) ?? "")) throw cause;
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

/** No file system's times are coarser than this; those of the near ones are as fine as the system's tick. */
const COARSE_MS = 2000;
const TICK_MS = 100;
const NO_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** Makes the folders only when they turn out to be missing: usually they are there. */
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

async function orUndefined<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (cause) {
    if (leadsNowhere(cause)) return undefined;
    throw cause;
  }
}

function codeOf(cause: unknown): string | undefined {
  return (cause as NodeJS.ErrnoException).code;
}
