import type { TextElement } from "@bobbin/protocol";

export interface TextPiece {
  readonly text: string;
  readonly isElement: boolean;
}

/**
 * Splits a text at its marked ranges, which are given in bytes. Ranges that overlap or are outside of the text are
 * ignored.
 */
export function textPieces(text: string, elements: readonly TextElement[]): readonly TextPiece[] {
  if (elements.length === 0) return [{ text, isElement: false }];
  const bytes = new TextEncoder().encode(text);
  const pieces: TextPiece[] = [];
  let reached = 0;
  const cut = (end: number, isElement: boolean) => {
    if (end > reached)
      pieces.push({ text: new TextDecoder().decode(bytes.subarray(reached, end)), isElement });
    reached = Math.max(reached, end);
  };
  const ranges = elements.map(({ byteRange }) => byteRange);
  for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
    if (start < reached || end <= start || end > bytes.length) continue;
    cut(start, false);
    cut(end, true);
  }
  cut(bytes.length, false);
  return pieces;
}
