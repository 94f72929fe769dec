/** Limit on the stored output of a running command, in characters. Only the end of a longer output is stored. */
export const SAVED_OUTPUT = 64 * 1024;

/** The end of a command's output after more output has arrived, at most `SAVED_OUTPUT` characters. */
export function outputTail(before: string, more: string): string {
  const text = before + more;
  return text.length <= SAVED_OUTPUT ? text : text.slice(outputStart(text));
}

/** The index at which the last `SAVED_OUTPUT` characters of an output begin. Never within a surrogate pair. */
export function outputStart(text: string): number {
  const start = Math.max(0, text.length - SAVED_OUTPUT);
  const code = text.charCodeAt(start);
  return start > 0 && code >= 0xdc00 && code <= 0xdfff ? start + 1 : start;
}
