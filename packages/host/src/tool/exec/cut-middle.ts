/** Rough estimate of how many characters make one token. */
const CHARS_PER_TOKEN = 4;

export interface CutText {
  readonly text: string;
  /** Estimated number of tokens of the whole text. */
  readonly tokens: number;
  readonly isCut: boolean;
}

/**
 * Shortens a text to about `maxTokens` tokens by cutting out its middle. A mark at the cut says about how many tokens
 * are missing, in the form that models know from the Codex CLI; `where` is appended to it.
 */
export function cutMiddle(text: string, maxTokens: number, where = ""): CutText {
  const tokens = Math.ceil(text.length / CHARS_PER_TOKEN);
  if (tokens <= maxTokens) return { text, tokens, isCut: false };
  const half = Math.floor((maxTokens * CHARS_PER_TOKEN) / 2);
  const head = text.slice(0, wholeCharacters(text, half));
  const tail = text.slice(wholeCharacters(text, text.length - half));
  const missing = Math.ceil((text.length - head.length - tail.length) / CHARS_PER_TOKEN);
  const mark = `…${missing} tokens truncated${where === "" ? "" : `${where} `}…`;
  return { text: head + mark + tail, tokens, isCut: true };
}

/** The index, moved by one if it would split a surrogate pair. */
function wholeCharacters(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff ? index + 1 : index;
}
