import { createHash } from "node:crypto";
import type { ThreadState } from "../core/state.ts";
import type { FileBefore, FilesBefore } from "../core/turn/changes.ts";
import type { Files, ReadableFiles, WorkspaceFiles } from "../platform/platform.ts";
import type { FileState } from "./diff-text.ts";
import { packName } from "./saved-packs.ts";

/** Where a thread keeps what is too large for its journal. */
export interface BlobStore {
  keep(name: string, bytes: Uint8Array): Promise<void>;
  blob(name: string): Promise<Uint8Array | undefined>;
}

export interface FilePorts {
  readonly workspace: Pick<WorkspaceFiles, "read">;
  readonly files: Pick<Files, "realPath">;
  /** What threads of an owner may read. */
  filesOf(owner: string): Pick<ReadableFiles, "openRead">;
}

/** A larger file is not saved, and not shown in diffs. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** Reads a file for a thread of an owner; null if there is none that it may read. Throws if it is too large. */
export async function readFile(ports: FilePorts, owner: string, path: string): Promise<FileState | null> {
  const file = await ports.filesOf(owner).openRead(path);
  if (file === undefined) return null;
  try {
    const size = await file.size();
    if (size > MAX_FILE_BYTES) throw new Error(`${path} is larger than ${MAX_FILE_BYTES} bytes`);
    const content = Buffer.from(await file.read(0, size)).toString("latin1");
    const mode = (await ports.workspace.read(path, MAX_FILE_BYTES))?.mode ?? 0o644;
    return { mode, content };
  } finally {
    await file.close();
  }
}

/** Saves files that are about to change. Those that cannot be read are named in `missing`. */
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
  const said = missing.length > 0 && { missing: missing.join("; ") };
  return { before: { pack, files, trees: [], ...said }, bytes: bytes.length };
}

/** What was saved of a file: null if there was none, undefined if it is not there any more. */
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
