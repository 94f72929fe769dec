import { join } from "node:path";
import type { Files } from "../platform/platform.ts";
import { archivePath, sessionPath } from "./paths.ts";

/**
 * Folders of what is too large for a thread's journal, beside it and named like it: first where it is kept now, then
 * where a crash may have left it while the thread was moved.
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

/** Names follow from what they stand for: what is there is whole, because it got its name last. */
export async function keepBlob(files: Files, folder: string, name: string, bytes: Uint8Array): Promise<void> {
  const path = join(folder, name);
  if (await files.exists(path)) return;
  const draft = `${path}.part`;
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
