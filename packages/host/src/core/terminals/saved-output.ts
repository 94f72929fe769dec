/** How much of a running command's output is kept: its end. */
export const SAVED_OUTPUT = 64 * 1024;

/** The end of a text that has grown. */
export function savedOutput(before: string, more: string): string {
  const text = before + more;
  return text.length <= SAVED_OUTPUT ? text : text.slice(outputStart(text));
}

/** Where the part of an output that is kept begins; never within a surrogate pair. */
export function outputStart(text: string): number {
  const start = Math.max(0, text.length - SAVED_OUTPUT);
  const code = text.charCodeAt(start);
  return start > 0 && code >= 0xdc00 && code <= 0xdfff ? start + 1 : start;
}
