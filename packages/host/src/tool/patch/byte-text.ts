// Files are patched as byte strings: one character per byte. So a file that is no valid UTF-8 keeps every byte that the
// patch does not name.

/** Text as a byte string. */
export function toByteText(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** A byte string as text, for people and models. */
export function fromByteText(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

const TRAILING = /[ \t\f\v\r]+$/;
const OUTER = /^[ \t\f\v\r]+|[ \t\f\v\r]+$/g;

/** Without spaces and tabs at its end; bytes of other characters are left alone. */
export function trimByteEnd(line: string): string {
  return line.replace(TRAILING, "");
}

export function trimBytes(line: string): string {
  return line.replace(OUTER, "");
}
