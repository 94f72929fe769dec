import { createHash } from "node:crypto";
import type { ThreadState } from "../core/state.ts";
import type { FileBefore, FilesBefore } from "../core/turn/file-changes.ts";
import type { Files, ReadableFiles } from "../platform/platform.ts";
import { packName } from "./backup-retention.ts";
import type { FileState } from "./git-diff-text.ts";

/** Storage of a thread for data that is too large for its journal. */
export interface BlobStore {
  keep(name: string, bytes: Uint8Array): Promise<void>;
  blob(name: string): Promise<Uint8Array | undefined>;
  /** The blobs whose names begin with a prefix. */
  blobs(prefix: string): Promise<readonly { readonly name: string; readonly bytes: number }[]>;
  removeBlob(name: string): Promise<void>;
}

export interface FilePorts {
  readonly files: Pick<Files, "realPath">;
  /** The files that threads of an owner may read. */
  filesOf(owner: string): Pick<ReadableFiles, "openRead">;
}

/** Limit on the bytes of one file. Larger files are not saved, and diffs do not show them. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/**
 * Reads a file for a thread of an owner. Null if it does not exist, or if the owner may not read it. Throws if the
 * file is too large.
 */
export async function readFile(ports: FilePorts, owner: string, path: string): Promise<FileState | null> {
  const file = await ports.filesOf(owner).openRead(path);
  if (file === undefined) return null;
  try {
    const size = await file.size();
    if (size > MAX_FILE_BYTES) throw new Error(`${path} is larger than ${MAX_FILE_BYTES} bytes`);
    const content = Buffer.from(await file.read(0, size)).toString("latin1");
    // Of the same opened file: the path may lead to another one by now.
    return { mode: (await file.mode?.()) ?? 0o644, content };
  } finally {
    await file.close();
  }
}

/** Saves the content of files that are about to change. Files that cannot be read are listed in `missing`. */
export async function saveFiles(
  ports: FilePorts,
  { facts, turn }: Pick<ThreadState, "facts" | "turn">,
  blobs: BlobStore,
  paths: readonly string[],
): Promise<{ readonly before: FilesBefore; readonly bytes: number }> {
  const files: FileBefore[] = [];
  const contents: Buffer[] = [];
  const missing: string[] = [];
  let from = 0;
  const real = await Promise.all(paths.map((path) => ports.files.realPath(path).catch(() => path)));
  for (const path of new Set(real)) {
    try {
      const file = await readFile(ports, facts.owner, path);
      if (file === null) {
        files.push({ path, mode: 0, from: 0, length: null });
        continue;
      }
      const bytes = Buffer.from(file.content, "latin1");
      files.push({ path, mode: file.mode, from, length: bytes.length });
      contents.push(bytes);
      from += bytes.length;
    } catch (cause) {
      missing.push(`${path}: ${(cause as Error).message}`);
    }
  }
  const bytes = Buffer.concat(contents);
  const digest = createHash("sha256").update(bytes).digest("hex");
  const pack = bytes.length === 0 ? null : packName(turn?.id ?? "", digest);
  if (pack !== null) await blobs.keep(pack, bytes);
  const note = missing.length > 0 && { missing: missing.join("; ") };
  return { before: { pack, files, trees: [], ...note }, bytes: bytes.length };
}

/** The saved content of a file: null if the file did not exist, undefined if the backup no longer exists. */
export async function savedFile(
  blobs: BlobStore,
  pack: string | null,
  { mode, from, length }: FileBefore,
): Promise<FileState | null | undefined> {
  if (length === null) return null;
  if (length === 0) return { mode, content: "" };
  const bytes = pack === null ? undefined : await blobs.blob(pack);
  if (bytes === undefined || bytes.length < from + length) return undefined;
  return { mode, content: Buffer.from(bytes.subarray(from, from + length)).toString("latin1") };
}
