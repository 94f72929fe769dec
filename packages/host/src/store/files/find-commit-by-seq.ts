import type { ReadFile } from "../../platform/platform.ts";
import { seqOf } from "./read-lines.ts";

/** Size of the first read that looks for the start of a line. Sizes double for longer lines. */
const PROBE_BYTES = 4 * 1024;
/** The maximum size of such a read. A read may consist of empty lines only, and more of them would delay other requests. */
const MAX_PROBE_BYTES = 256 * 1024;
/** Ranges up to this size are not bisected, but read as a whole. */
const SCAN_BYTES = 64 * 1024;
/** Factor by which the searched range at the end of the file grows at first. */
const STRIDE = 8;
/** Number of bytes that contain all numbers of a commit. */
const HEAD_BYTES = 96;
const LF = 0x0a;

interface Found {
  readonly start: number;
  readonly seq: number;
}

/**
 * Finds the start of the first commit with at least this sequence number, by bisection; `end` if there is none. Reads
 * only the starts of a few lines. The range grows from the end of the file, because most callers want one of the last
 * commits.
 */
export async function findCommitBySeq(file: ReadFile, end: number, seq: number): Promise<number> {
  /** Start of a line with an older commit, or of the file. */
  let low = 0;
  /** Start of the oldest known commit that is not older than the wanted one. */
  let found = end;
  /** No commit starts between `high` and `found`. */
  let high = end;
  for (let back = SCAN_BYTES; back < end && low === 0; back *= STRIDE) {
    const at = end - back;
    const first = await firstCommit(file, at, high);
    if (first !== undefined && first.seq < seq) low = first.start;
    else [high, found] = [at, first?.start ?? found];
  }
  while (high - low > SCAN_BYTES) {
    const middle = low + Math.floor((high - low) / 2);
    const first = await firstCommit(file, middle, high);
    if (first !== undefined && first.seq < seq) low = first.start;
    else [high, found] = [middle, first?.start ?? found];
  }
  const bytes = await file.read(low, Math.min(end, high + HEAD_BYTES) - low);
  for (let left = 0; left < high - low; ) {
    const at = seqOf(bytes, left);
    if (at !== undefined && at >= seq) return low + left;
    const right = bytes.indexOf(LF, left);
    if (right < 0) break;
    left = right + 1;
  }
  return found;
}

/** Finds the first commit whose line starts at or after `from` and before `limit`. Other lines are skipped. */
async function firstCommit(file: ReadFile, from: number, limit: number): Promise<Found | undefined> {
  // Starts one byte earlier, which is an LF if a line starts at `from`.
  let at = from - 1;
  for (let step = PROBE_BYTES; at < limit - 1; step = Math.min(MAX_PROBE_BYTES, step * 2)) {
    const bytes = await file.read(at, step + HEAD_BYTES);
    for (let left = bytes.indexOf(LF); left >= 0 && left < step; left = bytes.indexOf(LF, left + 1)) {
      const start = at + left + 1;
      if (start >= limit) return undefined;
      const seq = seqOf(bytes, left + 1);
      if (seq !== undefined) return { start, seq };
    }
    if (bytes.length < step) return undefined;
    at += step;
  }
  return undefined;
}
