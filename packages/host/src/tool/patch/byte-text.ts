// Files are patched as byte strings with one character per byte, so that a file with invalid UTF-8 keeps all bytes
// that the patch does not change.

/** Converts text to a byte string of its UTF-8 bytes. */
export function toByteText(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Converts a byte string to text, for display. */
export function fromByteText(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

const TRAILING = /[ \t\f\v\r]+$/;
const OUTER = /^[ \t\f\v\r]+|[ \t\f\v\r]+$/g;

/** Removes spaces and tabs at the end. Works on single bytes only, so that no multi-byte character is damaged. */
export function trimByteEnd(line: string): string {
  return line.replace(TRAILING, "");
}

export function trimBytes(line: string): string {
  return line.replace(OUTER, "");
}
