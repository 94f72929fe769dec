import { fstatSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { NearFolders } from "./near-folders.ts";
import type { NodeSyncs } from "./node-syncs.ts";
import type { AppendFile } from "./platform.ts";

/** Node's callbacks on bare descriptors: a write through a FileHandle costs several objects and promises more. */
export type FileCalls = Pick<
  typeof import("node:fs"),
  "write" | "fdatasync" | "fsync" | "ftruncate" | "truncate" | "fstat" | "close" | "open"
>;

export interface Opened {
  readonly fd: number;
  readonly path: string;
  readonly size: number;
  /** Folders whose entries are new with this file: they are synced with its first sync. */
  readonly newIn: readonly string[];
  readonly syncs: NodeSyncs;
  /** Knows where a short write may be made at once; without it all go to the thread pool. */
  readonly near?: NearFolders | undefined;
}

/** What is longer may take its time. */
const SHORT_BYTES = 16 * 1024;

/** Steps on one file run one after the other: the size before a write has to be known if it fails half-way. */
export class NodeAppendFile implements AppendFile {
  readonly #fs: FileCalls;
  readonly #file: Opened;
  #size: number;
  #steps = 0;
  #lastStep: Promise<void> = Promise.resolve();
  /** Bytes of a failed write may be behind `#size`, because cutting them off failed too. */
  #torn = false;
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
    // What is behind it then is ours, and is cut off before the next write.
    if (this.#torn) return this.#size;
    const { fd, path, near } = this.#file;
    return near?.at(path, () => fstatSync(fd).size)?.value ?? this.#statSize();
  }

  append(bytes: Uint8Array): Promise<number> {
    return this.#inTurn(() => (this.#torn ? this.#mendAndWrite(bytes) : this.#write(bytes)));
  }

  truncate(size: number): Promise<void> {
    return this.#inTurn(async () => {
      if (size > this.#size && !this.#torn) {
        throw new RangeError(`cannot cut ${this.#file.path} to ${size}: it has ${this.#size} bytes`);
      }
      await this.#cut(size);
      this.#size = size;
      this.#torn = false;
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
      called((answer) => this.#fs.close(this.#file.fd, answer)),
    );
    return this.#closed;
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    // A descriptor's number is given to another file after a close, so nothing may reach it then.
    if (this.#closed !== undefined) return Promise.reject(closedError(this.#file.path));
    const done = this.#steps === 0 ? step() : this.#lastStep.then(step);
    this.#steps++;
    this.#lastStep = done.then(this.#stepDone, this.#stepDone);
    return done;
  }

  readonly #stepDone = (): void => {
    this.#steps--;
  };

  #write(bytes: Uint8Array): Promise<number> {
    this.#changes++;
    const start = this.#size;
    let at = this.#writeAtOnce(bytes);
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
        this.#cutRest(bytes.length).then(
          () => fail(why),
          () => {
            this.#torn = true;
            fail(why);
          },
        );
      };
      this.#fs.write(fd, bytes, at, bytes.length - at, null, written);
    });
  }

  /** How many bytes went; what is wrong with the rest is told by the call in the thread pool that takes it. */
  #writeAtOnce(bytes: Uint8Array): number {
    const { fd, path, near } = this.#file;
    if (bytes.length === 0) return 0;
    // While the file is being synced, a write may have to wait for the disk.
    if (bytes.length > SHORT_BYTES || this.#syncing !== undefined) return 0;
    return near?.at(path, () => tryWrite(fd, bytes))?.value ?? 0;
  }

  async #mendAndWrite(bytes: Uint8Array): Promise<number> {
    await this.#cut(this.#size);
    this.#torn = false;
    return this.#write(bytes);
  }

  /** Takes back what a failed write of `length` bytes left, so that no half line stays in the middle. */
  async #cutRest(length: number): Promise<void> {
    const size = await this.#statSize();
    // More than this write can have left: somebody else appends here, whose bytes are not ours to cut.
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
    return called((answer) => {
      // Windows allows a descriptor for appending to do nothing but append.
      if (process.platform === "win32") this.#fs.truncate(this.#file.path, size, answer);
      else this.#fs.ftruncate(this.#file.fd, size, answer);
    });
  }

  #startSync(): Promise<void> {
    const run = this.#lastStep.then(() => this.#syncNow());
    this.#syncing = run;
    const over = (): void => {
      // With a next one waiting it stays set, so that nobody starts a third one beside it.
      if (this.#nextSync === undefined) this.#syncing = undefined;
    };
    run.then(over, over);
    return run;
  }

  async #syncNow(): Promise<void> {
    // After a failed sync the kernel may have dropped the pages and call the next one a success.
    if (this.#syncFailure !== undefined) throw this.#syncFailure;
    const covered = this.#changes;
    if (covered === this.#syncedChanges) return;
    try {
      const { fd, syncs, newIn } = this.#file;
      const folders = this.#foldersSynced ? [] : newIn;
      await Promise.all([syncs.file(fd), ...folders.map((path) => syncs.folder(path))]);
      this.#foldersSynced = true;
      this.#syncedChanges = covered;
    } catch (cause) {
      this.#syncFailure = cause;
      throw cause;
    }
  }
}

/** The folders that got a new entry when `path` was made, `made` being the topmost folder made for it. */
export function foldersWithNews(path: string, made: string | undefined): string[] {
  const folders = [dirname(path)];
  if (made === undefined) return folders;
  for (let at = dirname(path); at !== dirname(made); at = dirname(at)) folders.push(dirname(at));
  return folders;
}

/** A promise of one call that answers with an error or nothing. */
export function called(call: (answer: (cause: NodeJS.ErrnoException | null) => void) => void): Promise<void> {
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
