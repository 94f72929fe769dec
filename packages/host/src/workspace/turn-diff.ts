import { createHash } from "node:crypto";

/** A longer diff is cut: it is in the journal, and every client is sent it. */
const MAX_BYTES = 256 * 1024;
/** After so much, a turn's further diffs are short. */
const MAX_SENT = 2 * 1024 * 1024;
const SHORT_BYTES = 16 * 1024;

/** How long the next diff of a turn may be that has sent so much. */
export function diffRoom(sent: number): number {
  return sent < MAX_SENT ? MAX_BYTES : SHORT_BYTES;
}

/** The diffs of files as one text, whole files as long as there is room; says what was left out. */
export function diffWithin(diffs: readonly string[], missing: readonly string[], room: number): string {
  let text = "";
  let left = 0;
  for (const diff of diffs) {
    if (left === 0 && text.length + diff.length <= room) {
      text += diff;
      continue;
    }
    // The first that is too long is shown as far as there is room: it may be the only one.
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

export function digestOf(diff: string): string {
  return createHash("sha256").update(diff, "latin1").digest("hex");
}
