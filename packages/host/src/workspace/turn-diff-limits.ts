import { createHash } from "node:crypto";

/** Limit on the bytes of one diff, which is written to the journal and sent to every client. */
const MAX_BYTES = 256 * 1024;
/** When a turn has sent this many bytes of diffs, its further diffs are limited to `SHORT_BYTES`. */
const MAX_SENT = 2 * 1024 * 1024;
const SHORT_BYTES = 16 * 1024;

/** Limit on the next diff of a turn that has sent `sent` bytes so far. */
export function diffRoom(sent: number): number {
  return sent < MAX_SENT ? MAX_BYTES : SHORT_BYTES;
}

/** Joins the diffs of files: whole files as long as there is room. States what was left out. */
export function diffWithin(diffs: readonly string[], missing: readonly string[], room: number): string {
  let text = "";
  let left = 0;
  for (const diff of diffs) {
    if (left === 0 && text.length + diff.length <= room) {
      text += diff;
      continue;
    }
    // The first file that does not fit is shown partly, because it may be the only one.
    if (left === 0) text += wholeLines(diff, room - text.length);
    left++;
  }
  if (left > 0) text += `# The diff is cut here: it is longer than ${room} bytes. ${filesCut(left)}\n`;
  for (const what of missing) text += `# Not in this diff: ${what.replaceAll("\n", " ").slice(0, 500)}\n`;
  return text;
}

function wholeLines(text: string, room: number): string {
  return text.slice(0, text.lastIndexOf("\n", Math.max(0, room - 1)) + 1);
}

function filesCut(count: number): string {
  return count === 1 ? "One file is not shown in full." : `${count} files are not shown in full.`;
}

/** The digest by which equal diffs are recognized. */
export function digestOf(diff: string): string {
  return createHash("sha256").update(diff, "latin1").digest("hex");
}
