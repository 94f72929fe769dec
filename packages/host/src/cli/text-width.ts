const SEGMENTER = new Intl.Segmenter();
/** Letters that take two columns of a terminal: East Asian ones, and emoji. */
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

/** The number of columns that a line without control characters takes on a terminal. */
export function textWidth(line: string): number {
  let width = 0;
  for (const { segment } of SEGMENTER.segment(line)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** Cuts a line to a number of columns. An ellipsis replaces the rest. */
export function cutToWidth(line: string, columns: number): string {
  if (textWidth(line) <= columns) return line;
  let kept = "";
  let width = 1;
  for (const { segment } of SEGMENTER.segment(line)) {
    width += WIDE.test(segment) ? 2 : 1;
    if (width > columns) break;
    kept += segment;
  }
  return `${kept}…`;
}
