/** About how many bytes of text a model counts as one token. */
const BYTES_PER_TOKEN = 4;

export interface CutText {
  readonly text: string;
  /** About how many tokens the whole text has. */
  readonly tokens: number;
  readonly isCut: boolean;
}

/** Cuts a text in the middle so that it has about so many tokens, and says so where it was cut. */
export function cutMiddle(text: string, maxTokens: number, where = ""): CutText {
  const tokens = Math.ceil(text.length / BYTES_PER_TOKEN);
  if (tokens <= maxTokens) return { text, tokens, isCut: false };
  const half = Math.floor((maxTokens * BYTES_PER_TOKEN) / 2);
  const head = text.slice(0, wholeCharacters(text, half));
  const tail = text.slice(wholeCharacters(text, text.length - half));
  const left = text.length - head.length - tail.length;
  return { text: `${head}\n… ${left} characters cut${where} …\n${tail}`, tokens, isCut: true };
}

/** An index near the given one that is not within a surrogate pair. */
function wholeCharacters(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff ? index + 1 : index;
}
