import { dirname } from "node:path";
import type {
  AppendFile,
  Files,
  ReadableFiles,
  ReadFile,
} from "../../packages/host/src/platform/platform.ts";
import { type Disk, type FileOp, fileError, Inode } from "./disk.ts";
import type { Owner, Scheduler } from "./scheduler.ts";

/** Probability that a write reaches the disk in two pieces, with other steps in between. */
const SHORT_WRITE = 0.1;

/**
 * The `Files` of one host. Every operation takes effect in one step of the scheduler and resolves in a later one, so
 * that a crash can come before, between or after. Operations of one handle keep their order; those of different files
 * and folders do not.
 */
export class FakeFiles implements Files {
  readonly disk: Disk;
  readonly scheduler: Scheduler;
  readonly owner: Owner;
  /** Handles that are open. */
  readonly open = new Set<string>();
  #calls = 0;

  constructor(disk: Disk, scheduler: Scheduler, owner: Owner) {
    this.disk = disk;
    this.scheduler = scheduler;
    this.owner = owner;
  }

  readText(path: string): Promise<string | undefined> {
    return this.#once("readText", path, () => this.#file(path) && this.disk.text(path));
  }

  replaceText(path: string, text: string): Promise<void> {
    return this.#once("replaceText", path, () => {
      this.disk.put(path, text);
    });
  }

  async openAppend(path: string, options?: { readonly fresh?: boolean }): Promise<AppendFile> {
    const inode = await this.#once("openAppend", path, () => {
      const found = this.disk.get(path);
      if (found !== undefined && options?.fresh) throw fileError("EEXIST", "open", path);
      if (found !== undefined) return found;
      const made = new Inode();
      this.disk.link(path, made);
      return made;
    });
    return new FakeAppendFile(this, path, this.#handle(path), inode);
  }

  async openRead(path: string): Promise<ReadFile | undefined> {
    const inode = await this.#once("openRead", path, () => this.#file(path));
    return inode === undefined ? undefined : new FakeReadFile(this, path, this.#handle(path), inode);
  }

  list(folder: string): Promise<readonly { readonly name: string; readonly folder: boolean }[]> {
    return this.#once("list", folder, () => this.disk.list(folder));
  }

  exists(path: string): Promise<boolean> {
    return this.#once("exists", path, () => this.disk.get(path) !== undefined || this.disk.isFolder(path));
  }

  /** This disk has no timestamps, so callers have to read. */
  async stamps(): Promise<undefined> {
    return undefined;
  }

  /** This disk has no symlinks except claims, which have no target. */
  async realPath(path: string): Promise<string> {
    return path;
  }

  within(isAllowed: (realPath: string) => Promise<boolean>): ReadableFiles {
    return {
      readText: async (path) => ((await isAllowed(path)) ? this.readText(path) : undefined),
      openRead: async (path) => ((await isAllowed(path)) ? this.openRead(path) : undefined),
      list: async (folder) => ((await isAllowed(folder)) ? this.list(folder) : []),
      exists: async (path) => (await isAllowed(dirname(path))) && this.exists(path),
      stamps: () => this.stamps(),
    };
  }

  rename(from: string, to: string, options?: { readonly unsynced?: boolean }): Promise<void> {
    return this.#once("rename", from, () => this.disk.rename(from, to, !options?.unsynced));
  }

  remove(path: string, options?: { readonly synced?: boolean }): Promise<void> {
    return this.#once("remove", path, () => this.disk.remove(path, options?.synced));
  }

  erase(path: string, position: number, length: number): Promise<void> {
    return this.#once("erase", path, () => this.#file(path)?.erase(position, length));
  }

  sync(path: string): Promise<void> {
    return this.#once("sync", path, () => this.disk.sync(path));
  }

  claim(path: string, text: string): Promise<boolean> {
    return this.#once("claim", path, () => {
      if (this.disk.get(path) !== undefined) return false;
      const inode = new Inode(true);
      inode.bytes = new TextEncoder().encode(text);
      this.disk.link(path, inode);
      return true;
    });
  }

  claimed(path: string): Promise<string | undefined> {
    return this.#once("claimed", path, () => this.disk.text(path));
  }

  /** Performs an operation, or makes it fail and undoes it. Resolves in a later step. */
  operate<T>(source: string, op: FileOp, path: string, effect: () => T, undo = () => {}): Promise<T> {
    const label = `${op} ${path}`;
    return new Promise((resolve, reject) => {
      this.post(source, label, () => {
        let tell: () => void;
        try {
          this.disk.check(op, path);
          const result = effect();
          tell = () => resolve(result);
        } catch (cause) {
          undo();
          tell = () => reject(cause);
        }
        this.post(source, `${label} told`, tell);
      });
    });
  }

  post(source: string, label: string, run: () => void): void {
    this.scheduler.post(`${this.owner.name} ${source}`, label, run, this.owner);
  }

  #once<T>(op: FileOp, path: string, effect: () => T): Promise<T> {
    // Each call has its own source, because calls have no order. There are only a few sources, so that each has its
    // own speed for a while.
    return this.operate(`disk ${this.#calls++ % 16}`, op, path, effect);
  }

  /** Claims are symlinks without a target, and cannot be read as files. */
  #file(path: string): Inode | undefined {
    const inode = this.disk.get(path);
    return inode?.claim ? undefined : inode;
  }

  #handle(path: string): string {
    const handle = `file ${this.#calls++} ${path}`;
    this.open.add(handle);
    return handle;
  }
}

/** The common part of append and read handles: after `close` nothing works, and closing happens once. */
abstract class Handle {
  protected readonly files: FakeFiles;
  protected readonly path: string;
  protected readonly name: string;
  protected readonly inode: Inode;
  #closed: Promise<void> | undefined;

  constructor(files: FakeFiles, path: string, name: string, inode: Inode) {
    this.files = files;
    this.path = path;
    this.name = name;
    this.inode = inode;
  }

  protected async operate<T>(op: FileOp, effect: () => T, undo?: () => void): Promise<T> {
    this.assertOpen(op);
    return await this.files.operate(this.name, op, this.path, effect, undo);
  }

  protected assertOpen(op: FileOp): void {
    if (this.#closed !== undefined) throw fileError("EBADF", op, this.path);
  }

  close(): Promise<void> {
    this.#closed ??= this.settled().then(() =>
      this.step("close", () => {
        this.files.open.delete(this.name);
      }),
    );
    return this.#closed;
  }

  /** What a close waits for, besides the queued operations. */
  protected async settled(): Promise<void> {}

  protected step(label: string, effect: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.files.post(this.name, label, () => {
        effect();
        resolve();
      });
    });
  }
}

class FakeReadFile extends Handle implements ReadFile {
  size(): Promise<number> {
    return this.operate("read", () => this.inode.bytes.length);
  }

  read(position: number, length: number): Promise<Uint8Array> {
    return this.operate("read", () => this.inode.bytes.slice(position, position + length));
  }
}

class FakeAppendFile extends Handle implements AppendFile {
  #size: number;
  #syncing: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** The error of a failed sync. After it, no sync of this handle succeeds. */
  #failed: unknown;

  constructor(files: FakeFiles, path: string, name: string, inode: Inode) {
    super(files, path, name, inode);
    this.#size = inode.bytes.length;
  }

  get size(): number {
    return this.#size;
  }

  end(): number | Promise<number> {
    // A dead host gets no more results.
    return this.files.owner.alive ? this.inode.bytes.length : new Promise(() => {});
  }

  async append(bytes: Uint8Array): Promise<number> {
    this.assertOpen("append");
    const { random } = this.files.scheduler;
    const copy = bytes.slice();
    const first = copy.length > 1 && random.chance(SHORT_WRITE) ? random.between(1, copy.length - 1) : 0;
    if (first > 0) {
      const piece = () => this.inode.append(copy.subarray(0, first));
      this.files.post(this.name, `write ${first} bytes first`, piece);
    }
    const rest = () => {
      const start = this.#size;
      this.inode.append(copy.subarray(first));
      this.#size += copy.length;
      this.files.disk.touch(this.path);
      this.files.disk.appended(this.path);
      return start;
    };
    // A failed append is cut off again, but a crash may come before that.
    const cut = () => this.inode.truncate(this.inode.bytes.length - first);
    return await this.operate("append", rest, cut);
  }

  truncate(size: number): Promise<void> {
    return this.operate("truncate", () => {
      if (size > this.#size) throw new RangeError(`${this.path} has ${this.#size} bytes, not ${size}`);
      this.files.disk.truncate(this.inode, size);
      this.#size = size;
    });
  }

  async sync(): Promise<void> {
    this.assertOpen("sync");
    if (this.#syncing === undefined) return await this.#startSync();
    this.#next ??= this.#syncing
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.#startSync();
      });
    await this.#next;
  }

  protected override async settled(): Promise<void> {
    await Promise.allSettled([this.#syncing, this.#next]);
  }

  #startSync(): Promise<void> {
    this.#syncing = this.#sync().finally(() => {
      this.#syncing = undefined;
    });
    return this.#syncing;
  }

  async #sync(): Promise<void> {
    if (this.#failed !== undefined) throw this.#failed;
    let written = this.inode.bytes;
    // Data that is appended while the sync runs is not covered by it.
    await this.step("sync begins", () => {
      written = this.inode.bytes;
    });
    try {
      await this.files.operate(this.name, "sync", this.path, () => {
        if (this.inode.poisoned) return;
        this.inode.keep(written);
        this.files.disk.keepName(this.inode);
        this.files.disk.synced(this.path);
      });
    } catch (cause) {
      this.#failed = cause;
      this.inode.poisoned = true;
      throw cause;
    }
  }
}
