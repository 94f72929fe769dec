/** Rough estimate of how many characters make one token. */
const CHARS_PER_TOKEN = 4;

export interface CutText {
  readonly text: string;
  /** Estimated number of tokens of the whole text. */
  readonly tokens: number;
  readonly isCut: boolean;
}

/**
 * Shortens a text to about `maxTokens` tokens by cutting out its middle. A line at the cut says how many characters
 * are missing; `where` is appended to that line.
 */
export function cutMiddle(text: string, maxTokens: number, where = ""): CutText {
  const tokens = Math.ceil(text.length / CHARS_PER_TOKEN);
  if (tokens <= maxTokens) return { text, tokens, isCut: false };
  const half = Math.floor((maxTokens * CHARS_PER_TOKEN) / 2);
  const head = text.slice(0, wholeCharacters(text, half));
  const tail = text.slice(wholeCharacters(text, text.length - half));
  const missing = text.length - head.length - tail.length;
  return { text: `${head}\n… ${missing} characters cut${where} …\n${tail}`, tokens, isCut: true };
}

/** The index, moved by one if it would split a surrogate pair. */
function wholeCharacters(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff ? index + 1 : index;
}
