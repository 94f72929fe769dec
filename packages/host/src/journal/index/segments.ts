// No text shows it, and the tokenizer takes it for what it is: no letter.
const BETWEEN = "\u0003";

/** From the first letters that may be of such a script on; all else, most texts, is not looked at any further. */
const MAYBE = /[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\uffff]/;

let boundaries: RegExp | undefined;

/**
 * Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese are written without spaces between words, or with more in
 * a word than anyone looks for. Each of their letters becomes a word of its own, and a search a row of such words:
 * so it finds any part of a text.
 */
export function segmented(text: string): string {
  if (!MAYBE.test(text)) return text;
  // Made when first needed: such sets take long to make.
  boundaries ??= boundariesOf(["Han", "Hira", "Kana", "Hang", "Bopo", "Thai", "Laoo", "Khmr", "Mymr"]);
  return text.replace(boundaries, BETWEEN);
}

export function withoutSegments(text: string): string {
  return text.replaceAll(BETWEEN, "");
}

/** Between a letter of one of these scripts and any other letter. */
function boundariesOf(scripts: readonly string[]): RegExp {
  const letter = `[${scripts.map((script) => `\\p{scx=${script}}`).join("")}]`;
  const any = "[\\p{L}\\p{N}\\p{M}]";
  return new RegExp(`(?<=${letter})(?=${any})|(?<=${any})(?=${letter})`, "gu");
}
