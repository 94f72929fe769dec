import type { Commit } from "../../core/records.ts";
import type { Log } from "../../observe/log.ts";
import type { AppendFile, Files } from "../../platform/platform.ts";
import { encodeBatch, encodeCommit } from "./commit-format.ts";

const LF = 0x0a;

/**
 * Finds out how much of a failed append the journal contains, and cuts a torn last line. `size`: the size before the
 * append. Returns undefined if another process has appended to the journal.
 */
export async function settleUnknownAppend(
  { files, log }: { readonly files: Files; readonly log: Log },
  path: string,
  file: AppendFile,
  size: number,
  commits: readonly Commit[],
): Promise<{ readonly commits: number; readonly bytes: number } | undefined> {
  const wanted = encodeBatch(commits);
  const written = (await file.end()) - size;
  if (written === 0) return { commits: 0, bytes: 0 };
  const reader = await files.openRead(path);
  try {
    const bytes = written > 0 && written <= wanted.length ? await reader?.read(size, written) : undefined;
    if (bytes === undefined || !wanted.subarray(0, written).equals(bytes)) return undefined;
  } finally {
    await reader?.close();
  }
  const whole = wanted.subarray(0, written).lastIndexOf(LF) + 1;
  if (whole < written) {
    log.warn("cut a torn last line", { path, bytes: written - whole });
    await file.truncate(size + whole);
  }
  let there = 0;
  for (let bytes = 0; bytes < whole; there++) bytes += encodeCommit(commits[there]!).length;
  return { commits: there, bytes: whole };
}
