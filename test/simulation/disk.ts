import { basename, dirname } from "node:path";
import type { Random } from "./random.ts";

export type FileOp =
  | "readText"
  | "replaceText"
  | "openAppend"
  | "openRead"
  | "list"
  | "exists"
  | "rename"
  | "remove"
  | "claim"
  | "claimed"
  | "append"
  | "sync"
  | "truncate"
  | "erase"
  | "read"
  /** Any operation on the index file, which is not on this disk. */
  | "index";

/** Makes operations fail. */
export interface DiskFault {
  readonly op: FileOp | readonly FileOp[];
  /** Node's error code: ENOSPC, EIO, EROFS, EACCES … */
  readonly code: string;
  readonly path?: (path: string) => boolean;
  /** How many matching operations succeed first; by default none. */
  readonly skip?: number;
  /** How many matching operations fail then; by default one. */
  readonly times?: number;
}

/** Gets the name of what has changed in a folder, or undefined if the folder or file itself is gone or another one. */
interface DiskWatcher {
  readonly path: string;
  changed(name: string | undefined): void;
}

/** A file's content as readers see it, and the part that is sure to survive a power cut. */
export class Inode {
  bytes: Uint8Array = new Uint8Array(0);
  synced: Uint8Array = new Uint8Array(0);
  readonly claim: boolean;
  /** After a failed sync, dirty pages may be dropped; a later successful sync does not bring them back. */
  poisoned = false;
  /** The erased ranges since the last sync. */
  #erased: (readonly [number, number])[] = [];

  constructor(claim = false) {
    this.claim = claim;
  }

  append(more: Uint8Array): void {
    const grown = new Uint8Array(this.bytes.length + more.length);
    grown.set(this.bytes);
    grown.set(more, this.bytes.length);
    this.bytes = grown;
  }

  truncate(size: number): void {
    this.bytes = this.bytes.slice(0, size);
  }

  erase(position: number, length: number): void {
    if (position + length > this.bytes.length) throw new RangeError("nothing is there to be erased");
    this.bytes = this.bytes.slice().fill(BLANK, position, position + length);
    this.#erased.push([position, position + length]);
  }

  /** This content survives a power cut. */
  keep(written: Uint8Array): void {
    this.synced = written;
    if (written === this.bytes) this.#erased = [];
  }

  /** Of unsynced erased ranges, any part may have reached the disk, whatever happened to the file's end. */
  settleErased(random: Random): void {
    for (const [start, end] of this.#erased) {
      this.synced = this.synced
        .slice()
        .fill(BLANK, start, random.pick([start, end, random.between(start, end)]));
      const bytes = this.bytes.slice();
      bytes.set(this.synced.subarray(start, end), start);
      this.bytes = bytes;
    }
    this.#erased = [];
  }

  /** All erased ranges have reached the disk. */
  keepErased(): void {
    for (const range of this.#erased) this.synced = this.synced.slice().fill(BLANK, ...range);
    this.#erased = [];
  }
}

const BLANK = 0x20;

/** The file system of one machine. It outlives the hosts, and distinguishes written from synced data. */
export class Disk {
  readonly #random: Random;
  #names = new Map<string, Inode>();
  /** The directory entries that survive a power cut. */
  #safeNames = new Map<string, Inode>();
  readonly #folders = new Set<string>(["/"]);
  /** IDs that distinguish folders with the same name. */
  readonly #folderIds = new Map<string, number>();
  readonly #inodeIds = new WeakMap<Inode, number>();
  readonly #watchers = new Set<DiskWatcher>();
  #ids = 0;
  #powerCuts = 0;
  /** Called in the step in which an append has reached the disk, so that a host can die exactly then. */
  appended: (path: string) => void = () => {};
  /** Called in the step in which appended data is safe from a power cut. */
  synced: (path: string) => void = () => {};
  #faults: { readonly fault: DiskFault; skip: number; times: number }[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** Makes operations fail. The returned function ends that. */
  fail(fault: DiskFault): () => void {
    const entry = { fault, skip: fault.skip ?? 0, times: fault.times ?? 1 };
    this.#faults.push(entry);
    return () => {
      this.#faults = this.#faults.filter((other) => other !== entry);
    };
  }

  /** Throws if an operation is due to fail. */
  check(op: FileOp, path: string): void {
    for (const entry of this.#faults) {
      const ops = Array.isArray(entry.fault.op) ? entry.fault.op : [entry.fault.op];
      if (!ops.includes(op) || entry.fault.path?.(path) === false) continue;
      if (entry.skip-- > 0) continue;
      if (entry.times-- > 0) throw fileError(entry.fault.code, op, path);
    }
  }

  get(path: string): Inode | undefined {
    return this.#names.get(path);
  }

  /** The current text of a file, for scenarios that inspect the disk. */
  text(path: string): string | undefined {
    const inode = this.#names.get(path);
    return inode === undefined ? undefined : Buffer.from(inode.bytes).toString("utf8");
  }

  /** Writes a file as if it had always existed. */
  put(path: string, content: string | Uint8Array): void {
    const inode = new Inode();
    inode.bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    inode.synced = inode.bytes;
    this.link(path, inode);
    this.#safeNames.set(path, inode);
  }

  get paths(): readonly string[] {
    return [...this.#names.keys()].sort();
  }

  link(path: string, inode: Inode): void {
    if (this.#folders.has(path)) throw fileError("EISDIR", "open", path);
    this.makeFolder(dirname(path));
    this.#names.set(path, inode);
    this.touch(path);
  }

  /** Creates a folder and its parents. */
  makeFolder(path: string): void {
    for (let folder = path; !this.#folders.has(folder); folder = dirname(folder)) {
      if (this.#names.has(folder)) throw fileError("ENOTDIR", "open", path);
      this.#folders.add(folder);
      this.#folderIds.set(folder, ++this.#ids);
      this.touch(folder);
    }
  }

  /** Identifies a file or folder; undefined if there is none. */
  identity(path: string): string | undefined {
    if (this.#folders.has(path)) return `folder ${this.#folderIds.get(path) ?? 0}`;
    const inode = this.#names.get(path);
    return inode && `file ${this.#inodeId(inode)}`;
  }

  #inodeId(inode: Inode): number {
    const known = this.#inodeIds.get(inode) ?? ++this.#ids;
    this.#inodeIds.set(inode, known);
    return known;
  }

  /** Watches a path. The returned function ends that. */
  watch(path: string, changed: DiskWatcher["changed"]): () => void {
    const watcher = { path, changed };
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  get watchedPaths(): readonly string[] {
    return [...this.#watchers].map(({ path }) => path);
  }

  /** Notifies the watchers of a file that was changed, created or removed, and of its folder. */
  touch(path: string): void {
    for (const { path: watched, changed } of [...this.#watchers]) {
      if (watched === dirname(path) && watched !== path) changed(basename(path));
      else if (watched === path) changed(this.#names.has(path) ? basename(path) : undefined);
    }
  }

  isFolder(path: string): boolean {
    return this.#folders.has(path);
  }

  list(folder: string): readonly { readonly name: string; readonly folder: boolean }[] {
    const inside = (path: string) => path !== folder && dirname(path) === folder;
    const name = (path: string) => path.slice(folder === "/" ? 1 : folder.length + 1);
    const found = [
      ...[...this.#folders].filter(inside).map((path) => ({ name: name(path), folder: true })),
      ...[...this.#names.keys()].filter(inside).map((path) => ({ name: name(path), folder: false })),
    ];
    // Shuffled, because a real folder has no meaningful order.
    for (let at = found.length - 1; at > 0; at--) {
      const other = this.#random.below(at + 1);
      [found[at], found[other]] = [found[other]!, found[at]!];
    }
    return found;
  }

  /** Renames a file or folder. `synced`: the new name survives a power cut. */
  rename(from: string, to: string, synced = true): void {
    if (!this.#names.has(from) && !this.#folders.has(from)) throw fileError("ENOENT", "rename", from);
    for (const path of under(this.#names.keys(), from)) {
      const target = to + path.slice(from.length);
      const inode = this.#names.get(path)!;
      this.#names.delete(path);
      this.touch(path);
      this.link(target, inode);
      if (!synced) continue;
      this.#safeNames.delete(path);
      this.#safeNames.set(target, inode);
    }
    for (const path of under(this.#folders, from)) this.#dropFolder(path);
  }

  /**
   * Removes a file. Unless it is synced, a power cut may bring it back, even if it was never synced, because systems
   * also write on their own.
   */
  remove(path: string, synced = false): void {
    for (const name of under(this.#names.keys(), path)) {
      if (synced) this.#safeNames.delete(name);
      else if (!this.#safeNames.has(name)) this.#safeNames.set(name, this.#names.get(name)!);
      this.#names.delete(name);
      this.touch(name);
    }
    for (const folder of under(this.#folders, path)) if (folder !== "/") this.#dropFolder(folder);
  }

  #dropFolder(path: string): void {
    this.#folders.delete(path);
    this.touch(path);
  }

  /** From now on the file's current name survives a power cut. */
  keepName(inode: Inode): void {
    for (const [path, other] of this.#names) if (other === inode) this.#safeNames.set(path, inode);
  }

  /**
   * Truncates a file. Any part of the removed content may have reached the disk, and may be there again after a power
   * cut.
   */
  truncate(inode: Inode, size: number): void {
    inode.keepErased();
    const { bytes, synced } = inode;
    const least = isPrefix(synced, bytes) ? synced.length : 0;
    if (this.#random.chance(0.5)) inode.synced = bytes.slice(0, this.#random.between(least, bytes.length));
    inode.truncate(size);
  }

  /** Syncs a file's content, or the entries of a folder. */
  sync(path: string): void {
    const inode = this.#names.get(path);
    if (inode !== undefined && !inode.poisoned) inode.keep(inode.bytes);
    for (const name of new Set([...this.#names.keys(), ...this.#safeNames.keys()])) {
      if (dirname(name) !== path) continue;
      const now = this.#names.get(name);
      if (now === undefined) this.#safeNames.delete(name);
      else this.#safeNames.set(name, now);
    }
  }

  /** The ID of the current boot. It changes with each power cut. */
  get boot(): string {
    return `boot ${this.#powerCuts}`;
  }

  /** Simulates a power cut and the restart. */
  powerCut(): void {
    this.#powerCuts++;
    const left = new Map<string, Inode>();
    for (const path of new Set([...this.#names.keys(), ...this.#safeNames.keys()])) {
      const now = this.#names.get(path);
      const safe = this.#safeNames.get(path);
      const kept = now === safe || this.#random.chance(0.5) ? now : safe;
      if (kept !== undefined) left.set(path, kept);
    }
    for (const inode of new Set(left.values())) {
      inode.settleErased(this.#random);
      inode.bytes = this.#torn(inode);
      inode.keep(inode.bytes);
      inode.poisoned = false;
    }
    this.#names = new Map();
    this.#folders.clear();
    this.#folders.add("/");
    for (const [path, inode] of left) this.link(path, inode);
    this.#safeNames = new Map(left);
  }

  /** The synced content, and a random part of what was written since. */
  #torn({ bytes, synced, claim }: Inode): Uint8Array {
    if (claim) return bytes;
    const onlyGrew = bytes.length >= synced.length && isPrefix(synced, bytes);
    if (!onlyGrew && this.#random.chance(0.5)) return synced;
    const least = onlyGrew ? synced.length : commonLength(synced, bytes);
    // Includes the extremes: nothing of it, and all of it.
    const kept = this.#random.pick([least, bytes.length, this.#random.between(least, bytes.length)]);
    return bytes.slice(0, kept);
  }
}

export function fileError(code: string, op: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: simulated, ${op} '${path}'`), { code, syscall: op, path });
}

function under(paths: Iterable<string>, root: string): readonly string[] {
  return [...paths].filter((path) => path === root || path.startsWith(`${root}/`));
}

function commonLength(one: Uint8Array, other: Uint8Array): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at++;
  return at;
}

function isPrefix(start: Uint8Array, whole: Uint8Array): boolean {
  return Buffer.compare(start, whole.subarray(0, start.length)) === 0;
}
