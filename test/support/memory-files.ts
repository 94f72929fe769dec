// For unit tests of the store: files in memory. Every call takes effect at once, is noted, and can be made to fail or
// to wait. Unlike the simulated disk, nothing here is random.
import type { AppendFile, Files, ReadFile } from "../../packages/host/src/platform/platform.ts";

type Call = keyof Files | "append" | "fsync" | "truncate" | "read" | "size" | "close";

interface Trap {
  readonly call: Call;
  readonly part: string;
  run(): Promise<void> | undefined;
}

export class MemoryFiles implements Files {
  readonly #contents = new Map<string, { bytes: Buffer }>();
  readonly #claims = new Map<string, string>();
  #traps: Trap[] = [];
  /** Calls that change or sync something, with paths relative to the home, for example `sync live/boot.mark`. */
  changes: string[] = [];
  /** Paths of open handles. A path is listed once per handle. */
  open: string[] = [];
  /** Whether the actual size of an open file is a promise. */
  sizesLate = false;
  readonly home: string;

  constructor(home = "/home") {
    this.home = home;
  }

  /** Makes calls fail whose path contains `part`; the next one only, unless `times` says otherwise. */
  fail(call: Call, part: string, { code = "EIO", times = 1, skip = 0 } = {}): void {
    let calls = 0;
    this.#traps.push({
      call,
      part,
      run: () => {
        calls++;
        if (calls <= skip || calls > skip + times) return undefined;
        return Promise.reject(Object.assign(new Error(`${code}: ${call}`), { code }));
      },
    });
  }

  /** Makes the next such call wait. Returns the function that lets it go on. */
  hold(call: Call, part: string): () => void {
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const trap: Trap = {
      call,
      part,
      run: () => {
        this.#traps = this.#traps.filter((other) => other !== trap);
        return gate;
      },
    };
    this.#traps.push(trap);
    return go;
  }

  /** No call fails or waits any more. */
  heal(): void {
    this.#traps = [];
  }

  put(path: string, content: string | Uint8Array): void {
    this.#contents.set(this.#absolute(path), { bytes: Buffer.from(content) });
  }

  /** Appends to a file as another process does. */
  extend(path: string, content: string): void {
    const inode = this.#contents.get(this.#absolute(path))!;
    inode.bytes = Buffer.concat([inode.bytes, Buffer.from(content)]);
  }

  putClaim(path: string, text: string): void {
    this.#claims.set(this.#absolute(path), text);
  }

  text(path: string): string | undefined {
    const at = this.#absolute(path);
    return this.#claims.get(at) ?? this.#contents.get(at)?.bytes.toString();
  }

  /** All files and claims under a folder, relative to the home. */
  under(folder = ""): string[] {
    const paths = [...this.#contents.keys(), ...this.#claims.keys()].map((path) => this.#relative(path));
    return paths.filter((path) => path.startsWith(folder)).sort();
  }

  /** Returns the changes since the last call. */
  taken(): string[] {
    return this.changes.splice(0);
  }

  async readText(path: string): Promise<string | undefined> {
    await this.trap("readText", path);
    return this.#contents.get(path)?.bytes.toString();
  }

  async replaceText(path: string, text: string): Promise<void> {
    await this.trap("replaceText", path);
    this.note("replaceText", path);
    this.put(path, text);
  }

  async openAppend(path: string, options?: { readonly fresh?: boolean }): Promise<AppendFile> {
    await this.trap("openAppend", path);
    const found = this.#contents.get(path);
    if (found !== undefined && options?.fresh)
      throw Object.assign(new Error("EEXIST: openAppend"), { code: "EEXIST" });
    if (found === undefined) this.note("create", path);
    const inode = found ?? { bytes: Buffer.alloc(0) };
    this.#contents.set(path, inode);
    this.open.push(this.#relative(path));
    return new MemoryAppendFile(this, path, inode);
  }

  async openRead(path: string): Promise<ReadFile | undefined> {
    await this.trap("openRead", path);
    const inode = this.#contents.get(path);
    if (inode === undefined) return undefined;
    this.open.push(this.#relative(path));
    return {
      size: async () => {
        await this.trap("size", path);
        return inode.bytes.length;
      },
      read: async (position, length) => {
        await this.trap("read", path);
        return Buffer.from(inode.bytes.subarray(position, position + length));
      },
      close: () => this.closed(path),
    };
  }

  async list(folder: string): Promise<readonly { readonly name: string; readonly folder: boolean }[]> {
    await this.trap("list", folder);
    const found = new Map<string, boolean>();
    for (const path of [...this.#contents.keys(), ...this.#claims.keys()]) {
      if (!path.startsWith(`${folder}/`)) continue;
      const [name, ...deeper] = path.slice(folder.length + 1).split("/");
      found.set(name!, deeper.length > 0);
    }
    return [...found.keys()].sort().map((name) => ({ name, folder: found.get(name)! }));
  }

  async exists(path: string): Promise<boolean> {
    await this.trap("exists", path);
    return this.#at(path).length > 0;
  }

  async stamps(): Promise<undefined> {
    return undefined;
  }

  async realPath(path: string): Promise<string> {
    return path;
  }

  within(): never {
    throw new Error("the store has no restricted readers");
  }

  async rename(from: string, to: string, options?: { readonly unsynced?: boolean }): Promise<void> {
    await this.trap("rename", from);
    this.note("rename", from, `${this.#relative(to)}${options?.unsynced ? " unsynced" : ""}`);
    const paths = this.#at(from);
    if (paths.length === 0) throw Object.assign(new Error("ENOENT: rename"), { code: "ENOENT" });
    for (const path of paths) {
      const target = `${to}${path.slice(from.length)}`;
      for (const map of [this.#contents, this.#claims] as Map<string, unknown>[]) {
        if (map.has(path)) map.set(target, map.get(path));
        map.delete(path);
      }
    }
  }

  async remove(path: string, options?: { readonly synced?: boolean }): Promise<void> {
    await this.trap("remove", path);
    const found = this.#at(path);
    if (found.length > 0 || options?.synced) this.note("remove", path, options?.synced ? "synced" : "");
    for (const one of found) {
      this.#contents.delete(one);
      this.#claims.delete(one);
    }
  }

  async erase(path: string, position: number, length: number): Promise<void> {
    await this.trap("erase", path);
    this.note("erase", path, `${position}+${length}`);
    this.#contents.get(path)?.bytes.fill(" ", position, position + length);
  }

  async sync(path: string): Promise<void> {
    await this.trap("sync", path);
    this.note("sync", path);
  }

  async claim(path: string, text: string): Promise<boolean> {
    await this.trap("claim", path);
    if (this.#claims.has(path)) return false;
    this.note("claim", path, text);
    this.#claims.set(path, text);
    return true;
  }

  async claimed(path: string): Promise<string | undefined> {
    await this.trap("claimed", path);
    return this.#claims.get(path);
  }

  /** Runs the traps for a call. */
  async trap(call: Call, path: string): Promise<void> {
    for (const trap of [...this.#traps])
      if (trap.call === call && this.#relative(path).includes(trap.part)) await trap.run();
  }

  note(call: Call | "create", path: string, more = ""): void {
    this.changes.push(`${call} ${this.#relative(path)} ${more}`.trimEnd());
  }

  async closed(path: string): Promise<void> {
    const at = this.open.indexOf(this.#relative(path));
    if (at >= 0) this.open.splice(at, 1);
    await this.trap("close", path);
  }

  /** The file at a path, or all files of the folder there. */
  #at(path: string): string[] {
    if (this.#contents.has(path) || this.#claims.has(path)) return [path];
    const all = [...this.#contents.keys(), ...this.#claims.keys()];
    return all.filter((one) => one.startsWith(`${path}/`));
  }

  #relative(path: string): string {
    return path.startsWith(`${this.home}/`) ? path.slice(this.home.length + 1) : path;
  }

  #absolute(path: string): string {
    return path.startsWith("/") ? path : `${this.home}/${path}`;
  }
}

class MemoryAppendFile implements AppendFile {
  readonly #files: MemoryFiles;
  readonly #path: string;
  readonly #inode: { bytes: Buffer };
  size: number;
  #isOpen = true;

  constructor(files: MemoryFiles, path: string, inode: { bytes: Buffer }) {
    this.#files = files;
    this.#path = path;
    this.#inode = inode;
    this.size = inode.bytes.length;
  }

  end(): number | Promise<number> {
    const { length } = this.#inode.bytes;
    return this.#files.sizesLate ? Promise.resolve(length) : length;
  }

  async append(bytes: Uint8Array, options?: { readonly keepTime?: boolean }): Promise<number> {
    await this.#ready("append");
    this.#files.note("append", this.#path, options?.keepTime ? "keepTime" : "");
    this.#inode.bytes = Buffer.concat([this.#inode.bytes, bytes]);
    this.size += bytes.length;
    return this.size - bytes.length;
  }

  async sync(): Promise<void> {
    await this.#ready("fsync");
    this.#files.note("fsync", this.#path);
  }

  async truncate(size: number): Promise<void> {
    await this.#ready("truncate");
    this.#files.note("truncate", this.#path, String(size));
    this.#inode.bytes = this.#inode.bytes.subarray(0, size);
    this.size = size;
  }

  close(): Promise<void> {
    if (!this.#isOpen) return Promise.resolve();
    this.#isOpen = false;
    return this.#files.closed(this.#path);
  }

  async #ready(call: Call): Promise<void> {
    if (!this.#isOpen) throw Object.assign(new Error(`EBADF: ${call}`), { code: "EBADF" });
    await this.#files.trap(call, this.#path);
  }
}
