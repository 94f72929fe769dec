import { dirname } from "node:path";
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
  /** Whatever is done with the index's file, which is not on this disk. */
  | "index";

/** Makes operations fail. */
export interface DiskFault {
  readonly op: FileOp | readonly FileOp[];
  /** Node's error code: ENOSPC, EIO, EROFS, EACCES … */
  readonly code: string;
  readonly path?: (path: string) => boolean;
  /** How many that match go well first; none unless told. */
  readonly skip?: number;
  /** How many fail then; one unless told. */
  readonly times?: number;
}

/** A file's content as readers see it, and as a power cut would leave it at least. */
export class Inode {
  bytes: Uint8Array = new Uint8Array(0);
  synced: Uint8Array = new Uint8Array(0);
  readonly claim: boolean;
  /** A failed sync may have dropped dirty pages: a later one that succeeds brings nothing back. */
  poisoned = false;
  /** From where to where, since the last sync. */
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

  /** What was written by then survives a power cut. */
  keep(written: Uint8Array): void {
    this.synced = written;
    if (written === this.bytes) this.#erased = [];
  }

  /** Of what was erased and not synced, any part may have reached the disk, whatever became of the file's end. */
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

  /** All that was erased has reached the disk. */
  keepErased(): void {
    for (const range of this.#erased) this.synced = this.synced.slice().fill(BLANK, ...range);
    this.#erased = [];
  }
}

const BLANK = 0x20;

/** One machine's file system. It outlives the hosts on it, and knows what was written from what was synced. */
export class Disk {
  readonly #random: Random;
  #names = new Map<string, Inode>();
  /** The names that a power cut leaves. */
  #safeNames = new Map<string, Inode>();
  readonly #folders = new Set<string>(["/"]);
  #powerCuts = 0;
  /** Called in the step in which an append has reached the disk: where a host can die of exactly that. */
  appended: (path: string) => void = () => {};
  /** Called in the step in which what was appended is safe from a power cut. */
  synced: (path: string) => void = () => {};
  #faults: { readonly fault: DiskFault; skip: number; times: number }[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** The returned function ends it. */
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

  /** The text of a file, as it is now; for scenarios that look at the disk. */
  text(path: string): string | undefined {
    const inode = this.#names.get(path);
    return inode === undefined ? undefined : Buffer.from(inode.bytes).toString("utf8");
  }

  /** Writes a file as if it had always been there. */
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
    for (let folder = dirname(path); !this.#folders.has(folder); folder = dirname(folder)) {
      if (this.#names.has(folder)) throw fileError("ENOTDIR", "open", path);
      this.#folders.add(folder);
    }
    this.#names.set(path, inode);
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
    // A real folder lists in no order that means anything.
    for (let at = found.length - 1; at > 0; at--) {
      const other = this.#random.below(at + 1);
      [found[at], found[other]] = [found[other]!, found[at]!];
    }
    return found;
  }

  /** A file or a whole folder gets another name; `synced`: and keeps it whatever happens. */
  rename(from: string, to: string, synced = true): void {
    if (!this.#names.has(from) && !this.#folders.has(from)) throw fileError("ENOENT", "rename", from);
    for (const path of under(this.#names.keys(), from)) {
      const target = to + path.slice(from.length);
      const inode = this.#names.get(path)!;
      this.#names.delete(path);
      this.link(target, inode);
      if (!synced) continue;
      this.#safeNames.delete(path);
      this.#safeNames.set(target, inode);
    }
    for (const path of under(this.#folders, from)) this.#folders.delete(path);
  }

  /** Unless it is synced, a power cut may bring it back, even if it never was: systems write on their own, too. */
  remove(path: string, synced = false): void {
    for (const name of under(this.#names.keys(), path)) {
      if (synced) this.#safeNames.delete(name);
      else if (!this.#safeNames.has(name)) this.#safeNames.set(name, this.#names.get(name)!);
      this.#names.delete(name);
    }
    for (const folder of under(this.#folders, path)) if (folder !== "/") this.#folders.delete(folder);
  }

  /** The file's name survives from now on, under whichever name it has. */
  keepName(inode: Inode): void {
    for (const [path, other] of this.#names) if (other === inode) this.#safeNames.set(path, inode);
  }

  /** Cuts a file. Of what it had, any part may have reached the disk by then, and is there again after a power cut. */
  truncate(inode: Inode, size: number): void {
    inode.keepErased();
    const { bytes, synced } = inode;
    const least = isPrefix(synced, bytes) ? synced.length : 0;
    if (this.#random.chance(0.5)) inode.synced = bytes.slice(0, this.#random.between(least, bytes.length));
    inode.truncate(size);
  }

  /** A file's content, or the names in a folder. */
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

  /** The run of the machine: another one after each power cut. */
  get boot(): string {
    return `boot ${this.#powerCuts}`;
  }

  /** What is left after the power went and came back. */
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

  /** What was synced, and of what was written since then as much as chance has it. */
  #torn({ bytes, synced, claim }: Inode): Uint8Array {
    if (claim) return bytes;
    const onlyGrew = bytes.length >= synced.length && isPrefix(synced, bytes);
    if (!onlyGrew && this.#random.chance(0.5)) return synced;
    const least = onlyGrew ? synced.length : commonLength(synced, bytes);
    // The extremes are the interesting cases: nothing of it, all of it.
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
