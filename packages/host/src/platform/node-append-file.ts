import { fstatSync, type Stats, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { FsyncQueue } from "./fsync-queue.ts";
import type { LocalDiskFolders } from "./local-disk-folders.ts";
import type { AppendFile } from "./platform.ts";

/**
 * Node's callback API on plain descriptors is used, because a write through a FileHandle allocates several more
 * objects and promises.
 */
export type FileCalls = Pick<
  typeof import("node:fs"),
  "write" | "fdatasync" | "fsync" | "ftruncate" | "truncate" | "fstat" | "futimes" | "close" | "open"
>;

/** A file that was opened for appending. */
export interface Opened {
  readonly fd: number;
  readonly path: string;
  readonly size: number;
  /** Folders that got a new entry when this file was created. The file's first sync also syncs these folders. */
  readonly newIn: readonly string[];
  readonly syncs: FsyncQueue;
  /** Decides which short writes may run synchronously. Without it, all writes go to the thread pool. */
  readonly localDisk?: LocalDiskFolders | undefined;
}

/** Only writes up to this size run synchronously. */
const SHORT_BYTES = 16 * 1024;

/**
 * A file opened for appending. Its operations run one after the other: after a write that failed halfway, the
 * previous size must be known.
 */
export class NodeAppendFile implements AppendFile {
  readonly #fs: FileCalls;
  readonly #file: Opened;
  #size: number;
  #pendingSteps = 0;
  #lastStep: Promise<void> = Promise.resolve();
  /** Whether a failed write may have left bytes beyond `#size`, because truncating them failed, too. */
  #hasLeftover = false;
  #changes = 1;
  #syncedChanges = 0;
  #foldersSynced = false;
  #syncing: Promise<void> | undefined;
  #nextSync: Promise<void> | undefined;
  #syncFailure: unknown;
  #closed: Promise<void> | undefined;

  constructor(fs: FileCalls, file: Opened) {
    this.#fs = fs;
    this.#file = file;
    this.#size = file.size;
  }

  get size(): number {
    return this.#size;
  }

  end(): number | Promise<number> {
    // Bytes beyond `#size` are leftovers of a failed write. They are truncated before the next write.
    if (this.#hasLeftover) return this.#size;
    const { fd, path, localDisk } = this.#file;
    return localDisk?.at(path, () => fstatSync(fd).size)?.value ?? this.#statSize();
  }

  append(bytes: Uint8Array, options?: { readonly keepTime?: boolean }): Promise<number> {
    const write = () => (this.#hasLeftover ? this.#cutAndWrite(bytes) : this.#write(bytes));
    return this.#enqueue(options?.keepTime === true ? () => this.#keepingTime(write) : write);
  }

  /** Restores the modification time after the write. Best effort: if it cannot be read or set, it changes. */
  async #keepingTime<T>(write: () => Promise<T>): Promise<T> {
    const { fd } = this.#file;
    const before = await new Promise<Stats | undefined>((done) =>
      this.#fs.fstat(fd, (cause, stats) => done(cause === null ? stats : undefined)),
    );
    const written = await write();
    if (before !== undefined)
      await new Promise<void>((done) => this.#fs.futimes(fd, before.atime, before.mtime, () => done()));
    return written;
  }

  truncate(size: number): Promise<void> {
    return this.#enqueue(async () => {
      if (size > this.#size && !this.#hasLeftover) {
        throw new RangeError(`cannot cut ${this.#file.path} to ${size}: it has ${this.#size} bytes`);
      }
      await this.#cut(size);
      this.#size = size;
      this.#hasLeftover = false;
    });
  }

  sync(): Promise<void> {
    if (this.#closed !== undefined) return Promise.reject(closedError(this.#file.path));
    if (this.#syncing === undefined) return this.#startSync();
    this.#nextSync ??= this.#syncing.then(noop, noop).then(() => {
      this.#nextSync = undefined;
      return this.#startSync();
    });
    return this.#nextSync;
  }

  close(): Promise<void> {
    this.#closed ??= Promise.allSettled([this.#lastStep, this.#syncing, this.#nextSync]).then(() =>
      promised((answer) => this.#fs.close(this.#file.fd, answer)),
    );
    return this.#closed;
  }

  #enqueue<T>(step: () => Promise<T>): Promise<T> {
    // After a close, the descriptor's number may belong to another file, so no operation may use it.
    if (this.#closed !== undefined) return Promise.reject(closedError(this.#file.path));
    const done = this.#pendingSteps === 0 ? step() : this.#lastStep.then(step);
    this.#pendingSteps++;
    this.#lastStep = done.then(this.#stepDone, this.#stepDone);
    return done;
  }

  readonly #stepDone = (): void => {
    this.#pendingSteps--;
  };

  #write(bytes: Uint8Array): Promise<number> {
    this.#changes++;
    const start = this.#size;
    let at = this.#writeSync(bytes);
    if (at === bytes.length) {
      this.#size += at;
      return Promise.resolve(start);
    }
    return new Promise((done, fail) => {
      const { fd } = this.#file;
      const written = (cause: unknown, count: number): void => {
        if (cause === null && count > 0) {
          at += count;
          if (at < bytes.length) return this.#fs.write(fd, bytes, at, bytes.length - at, null, written);
          this.#size += bytes.length;
          return done(start);
        }
        const why = cause ?? new Error(`${this.#file.path} takes no more bytes`);
        this.#cutLeftover(bytes.length).then(
          () => fail(why),
          () => {
            this.#hasLeftover = true;
            fail(why);
          },
        );
      };
      this.#fs.write(fd, bytes, at, bytes.length - at, null, written);
    });
  }

  /** Returns how many bytes were written. The thread pool writes the rest, and reports an error if there is one. */
  #writeSync(bytes: Uint8Array): number {
    const { fd, path, localDisk } = this.#file;
    if (bytes.length === 0) return 0;
    // During a sync of the file, a write may have to wait for the disk.
    if (bytes.length > SHORT_BYTES || this.#syncing !== undefined) return 0;
    return localDisk?.at(path, () => tryWrite(fd, bytes))?.value ?? 0;
  }

  async #cutAndWrite(bytes: Uint8Array): Promise<number> {
    await this.#cut(this.#size);
    this.#hasLeftover = false;
    return this.#write(bytes);
  }

  /** Truncates what a failed write of `length` bytes left, so that no partial line stays in the middle of the file. */
  async #cutLeftover(length: number): Promise<void> {
    const size = await this.#statSize();
    // The file grew by more than this write: another process appends to it, and that process's bytes must not be cut.
    if (size <= this.#size || size > this.#size + length) return;
    await this.#cut(this.#size);
  }

  #statSize(): Promise<number> {
    return new Promise((done, fail) =>
      this.#fs.fstat(this.#file.fd, (cause, stats) => (cause === null ? done(stats.size) : fail(cause))),
    );
  }

  #cut(size: number): Promise<void> {
    this.#changes++;
    return promised((answer) => {
      // On Windows a descriptor opened for appending cannot truncate.
      if (process.platform === "win32") this.#fs.truncate(this.#file.path, size, answer);
      else this.#fs.ftruncate(this.#file.fd, size, answer);
    });
  }

  #startSync(): Promise<void> {
    const run = this.#lastStep.then(() => this.#syncNow());
    this.#syncing = run;
    const over = (): void => {
      // Stays set while another sync waits, so that no third sync starts in parallel.
      if (this.#nextSync === undefined) this.#syncing = undefined;
    };
    run.then(over, over);
    return run;
  }

  async #syncNow(): Promise<void> {
    // After a failed fsync, the kernel may have dropped the dirty pages and report the next fsync as a success. So
    // all later syncs fail, too.
    if (this.#syncFailure !== undefined) throw this.#syncFailure;
    const changesBefore = this.#changes;
    if (changesBefore === this.#syncedChanges) return;
    try {
      const { fd, syncs, newIn } = this.#file;
      const folders = this.#foldersSynced ? [] : newIn;
      await Promise.all([syncs.file(fd), ...folders.map((path) => syncs.folder(path))]);
      this.#foldersSynced = true;
      this.#syncedChanges = changesBefore;
    } catch (cause) {
      this.#syncFailure = cause;
      throw cause;
    }
  }
}

/** The folders that got a new entry when `path` was created; `made` is the topmost folder created for it. */
export function foldersWithNewEntries(path: string, made: string | undefined): string[] {
  const folders = [dirname(path)];
  if (made === undefined) return folders;
  for (let at = dirname(path); at !== dirname(made); at = dirname(at)) folders.push(dirname(at));
  return folders;
}

/** Turns a callback call that yields an error or nothing into a promise. */
export function promised(
  call: (answer: (cause: NodeJS.ErrnoException | null) => void) => void,
): Promise<void> {
  return new Promise((done, fail) => call((cause) => (cause === null ? done() : fail(cause))));
}

export function closedError(path: string): Error {
  return Object.assign(new Error(`EBADF: file is closed, ${path}`), { code: "EBADF" });
}

function tryWrite(fd: number, bytes: Uint8Array): number {
  try {
    return writeSync(fd, bytes);
  } catch {
    return 0;
  }
}

function noop(): void {}
