/** A word of the arguments of a prompt. */
export interface ArgumentWord {
  readonly text: string;
  /** The white space before the word. */
  readonly gap: string;
}

/** Joins words as they were typed, so that pasted lines stay lines. */
export function joinWords(words: readonly ArgumentWord[]): string {
  return words.map(({ text, gap }, at) => (at === 0 ? text : gap + text)).join("");
}

/**
 * Splits arguments into words. A quote opens at the beginning of a word or of a value (`NAME="…"`), so that the
 * apostrophe of `don't` is a letter; so is a quote that is not closed. In double quotes, `\"` and `\\` are escaped.
 */
export function argumentWords(args: string): readonly ArgumentWord[] {
  const words: ArgumentWord[] = [];
  const WORD = /(\s*)([A-Za-z][\w-]*=)?(?:"((?:[^"\\]|\\[\s\S])*)"(?=\s|$)|'([^']*)'(?=\s|$)|(\S+))?/y;
  while (WORD.lastIndex < args.length) {
    const found = WORD.exec(args);
    if (found === null || found[0] === "") break;
    const [, gap = "", key = "", double, single, plain] = found;
    const text = double?.replaceAll(/\\(["\\])/g, "$1") ?? single ?? plain ?? "";
    if (key + text !== "" || double !== undefined || single !== undefined)
      words.push({ text: key + text, gap });
  }
  return words;
}

/** Separates words of the form `NAME=value`, with one of these names, from the other words. A later value wins. */
export function takeNamed(
  words: readonly ArgumentWord[],
  names: ReadonlySet<string>,
): { readonly values: Map<string, string>; readonly others: readonly ArgumentWord[] } {
  const values = new Map<string, string>();
  const others = words.filter(({ text }) => {
    const end = text.indexOf("=");
    const name = text.slice(0, Math.max(0, end));
    if (!names.has(name)) return true;
    values.set(name, text.slice(end + 1));
    return false;
  });
  return { values, others };
}
