import { join } from "node:path";
import type { Files, WorkspaceFiles } from "../platform/platform.ts";

/** The mode of an entry that stands for a nested repository: a submodule, or a repository that was added as a file is. */
const GITLINK = 0o160000;
/** The type in the upper bits of a mode. */
const TYPE = 0o170000;
/** Bytes of an entry before its hash, and the position of its mode in them. */
const STAT_BYTES = 40;
const MODE_AT = 24;
const HEADER_BYTES = 12;
/** Limit on the paths of links. Linux opens no longer ones. */
const MAX_PATH_BYTES = 4096;
/** Limit on the size of an index: about a million files. */
const MAX_INDEX_BYTES = 128 * 1024 * 1024;

/** Paths of the gitlinks in an index file, and the id of the shared index file on which a split one builds. */
interface IndexLinks {
  readonly links: readonly string[];
  readonly shared: string | undefined;
}

/**
 * Parses a git index (versions 2 to 4). Throws if it is none. Entries that a split index replaces are not taken out of
 * the shared one: a link too many is harmless.
 */
export function parseIndexLinks(bytes: Uint8Array, hashBytes: number): IndexLinks {
  const index = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (index.toString("latin1", 0, 4) !== "DIRC") throw new Error("the file is no git index");
  const [version, count] = [index.readUInt32BE(4), index.readUInt32BE(8)];
  if (version < 2 || version > 4) throw new Error(`git index of version ${version}`);
  const links: string[] = [];
  // The path of the previous entry, for version 4.
  let path = Buffer.alloc(MAX_PATH_BYTES);
  let length = 0;
  let at = HEADER_BYTES;
  for (let nth = 0; nth < count; nth++) {
    const isLink = (index.readUInt32BE(at + MODE_AT) & TYPE) === GITLINK;
    const flags = index.readUInt16BE(at + STAT_BYTES + hashBytes);
    let name = at + STAT_BYTES + hashBytes + ((flags & 0x4000) === 0 ? 2 : 4);
    if (version === 4) {
      // A path is stored as the number of bytes to remove from the end of the previous path, and what follows then.
      let removed = index[name]! & 0x7f;
      while ((index[name++]! & 0x80) !== 0) removed = ((removed + 1) << 7) | (index[name]! & 0x7f);
      const end = endOf(index, name);
      length -= removed;
      if (!(length >= 0)) throw new Error("a path in the git index is wrong");
      if (length + end - name > path.length) path = Buffer.concat([path], 2 * (length + end - name));
      length += index.copy(path, length, name, end);
      if (isLink && length <= MAX_PATH_BYTES) links.push(path.toString("utf8", 0, length));
      at = end + 1;
    } else {
      const end = endOf(index, name);
      if (isLink) links.push(index.toString("utf8", name, end));
      // An entry is followed by one to eight NULs, up to a length that eight divides.
      at += (end - at + 8) & ~7;
    }
  }
  return { links, shared: sharedIndex(index, at, hashBytes) };
}

function endOf(index: Buffer, from: number): number {
  const end = index.indexOf(0, from);
  if (end < 0) throw new Error("the git index is cut off");
  return end;
}

/** The id of the shared index, from the extension `link`. */
function sharedIndex(index: Buffer, from: number, hashBytes: number): string | undefined {
  for (let at = from; at + 8 <= index.length - hashBytes; at += 8 + index.readUInt32BE(at + 4))
    if (index.toString("latin1", at, at + 4) === "link")
      return index.toString("hex", at + 8, at + 8 + hashBytes);
  return undefined;
}

/** Reads the gitlinks of index files, with a cache. */
export class IndexLinkReader {
  readonly #platform: {
    readonly files: Pick<Files, "stamps">;
    readonly workspace: Pick<WorkspaceFiles, "read">;
  };
  readonly #known = new Map<
    string,
    { readonly stamps: readonly number[]; readonly links: readonly string[] }
  >();

  constructor(platform: { files: Pick<Files, "stamps">; workspace: Pick<WorkspaceFiles, "read"> }) {
    this.#platform = platform;
  }

  /** The paths of the gitlinks in the index of a git folder. None if there is no index, or one that cannot be read. */
  async of(gitDir: string, isSha256: boolean): Promise<readonly string[]> {
    const path = join(gitDir, "index");
    const stamps = await this.#platform.files.stamps([path]);
    const known = this.#known.get(path);
    if (known !== undefined && stamps?.join() === known.stamps.join()) return known.links;
    const links = await this.#read(gitDir, path, isSha256 ? 32 : 20).catch(() => []);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    if (stamps !== undefined) this.#known.set(path, { stamps, links });
    return links;
  }

  async #read(gitDir: string, path: string, hashBytes: number): Promise<readonly string[]> {
    const file = await this.#platform.workspace.read(path, MAX_INDEX_BYTES);
    if (file === undefined) return [];
    const { links, shared } = parseIndexLinks(file.bytes, hashBytes);
    if (shared === undefined || path.includes("sharedindex.")) return links;
    return [...links, ...(await this.#read(gitDir, join(gitDir, `sharedindex.${shared}`), hashBytes))];
  }
}

/** Limit on cached index files; beyond it the cache is cleared. */
const MAX_KNOWN = 256;
