import { join } from "node:path";
import type { Files } from "../../platform/platform.ts";
import type { StoredBlob } from "../blobs.ts";
import { archivePath, sessionPath } from "./journal-paths.ts";

/** Extension of a blob that is still being written. */
const DRAFT = ".part";

/**
 * The folders in which the blobs of a thread may be: first the current one, beside the journal; then the one where a
 * crash left them while the thread was archived or unarchived.
 */
export function blobFolders(home: string, threadId: string, archived: boolean): readonly [string, string] {
  const active = folderOf(sessionPath(home, threadId));
  const away = folderOf(archivePath(home, threadId));
  return archived ? [away, active] : [active, away];
}

function folderOf(journal: string): string {
  return journal.replace(/\.jsonl$/, ".blobs");
}

export async function readBlob(
  files: Pick<Files, "openRead">,
  folders: readonly string[],
  name: string,
): Promise<Uint8Array | undefined> {
  for (const folder of folders) {
    const file = await files.openRead(join(folder, name));
    if (file === undefined) continue;
    try {
      return await file.read(0, await file.size());
    } finally {
      await file.close();
    }
  }
  return undefined;
}

/**
 * Writes a blob. If the file exists, it is complete and has the same content: its name is derived from the content,
 * and it gets that name last, by a rename.
 */
export async function keepBlob(files: Files, folder: string, name: string, bytes: Uint8Array): Promise<void> {
  const path = join(folder, name);
  if (await files.exists(path)) return;
  const draft = `${path}${DRAFT}`;
  await files.remove(draft);
  const file = await files.openAppend(draft, { fresh: true });
  try {
    await file.append(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await files.rename(draft, path);
}

export async function listBlobs(
  files: Pick<Files, "list" | "openRead">,
  folder: string,
  prefix: string,
): Promise<readonly StoredBlob[]> {
  const found: StoredBlob[] = [];
  for (const { name, folder: isFolder } of await files.list(folder)) {
    if (isFolder || !name.startsWith(prefix) || name.endsWith(DRAFT)) continue;
    const file = await files.openRead(join(folder, name));
    if (file === undefined) continue;
    try {
      found.push({ name, bytes: await file.size() });
    } finally {
      await file.close();
    }
  }
  return found;
}
