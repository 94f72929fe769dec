import { lettersOf, toLowerCode, withoutDiacritics } from "./letters.ts";

/**
 * One word of a query, in the Codex CLI's syntax: all words must match, in any order. A plain word matches fuzzily:
 * its letters in order, with others in between. `'word` matches literally, `^word` at the start, `word$` at the end,
 * `^word$` the whole path, and `!word` excludes paths. A backslash escapes a space and these signs.
 */
export interface Word {
  readonly kind: "fuzzy" | "substring" | "prefix" | "postfix" | "exact";
  readonly negative: boolean;
  readonly letters: readonly number[];
  /** Whether diacritics are compared. They are if the word contains some. */
  readonly hasDiacritics: boolean;
}

/** Parses a query into its words. */
export function parsePattern(query: string): readonly Word[] {
  return wordsOf(query)
    .map(parseWord)
    .filter(({ letters }) => letters.length > 0);
}

/** Splits at unescaped spaces. */
function wordsOf(query: string): readonly string[] {
  return query.match(/(?:\\\s|\S)+/gu) ?? [];
}

function parseWord(word: string): Word {
  let text = word;
  const negative = text.startsWith("!");
  if (negative) text = text.slice(1);
  else if (text.startsWith("\\!")) text = text.slice(1);
  let kind: Word["kind"] = "fuzzy";
  if (text.startsWith("^")) kind = "prefix";
  else if (text.startsWith("'")) kind = "substring";
  if (kind !== "fuzzy" || /^\\[\^']/.test(text)) text = text.slice(1);
  if (text.endsWith("\\$")) text = `${text.slice(0, -2)}$`;
  else if (text.endsWith("$")) {
    kind = kind === "fuzzy" ? "postfix" : "exact";
    text = text.slice(0, -1);
  }
  if (negative && kind === "fuzzy") kind = "substring";
  const letters = lettersOf(text.replace(/\\(\s)/gu, "$1")).map(toLowerCode);
  const hasDiacritics = letters.some((code) => withoutDiacritics(code) !== code);
  return { kind, negative, letters, hasDiacritics };
}
