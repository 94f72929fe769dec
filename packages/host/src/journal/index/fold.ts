/**
 * A text as searches look at it: in small letters, and Latin and Greek ones without accents. As long as the text itself,
 * so that a place in one is a place in the other. Null if it is the same; of ASCII SQLite ignores the case by itself.
 */
export function folded(text: string): string | null {
  if (/^[\0-\x7f]*$/.test(text)) return null;
  const small = text.replace(/[^\0-\x7f]/gu, foldedLetter);
  return small === text ? null : small;
}

const letters = new Map<string, string>();
/** Whoever writes in many scripts fills it with what is seldom used. */
const MAX_LETTERS = 5000;

function foldedLetter(letter: string): string {
  const known = letters.get(letter);
  if (known !== undefined) return known;
  if (letters.size >= MAX_LETTERS) letters.clear();
  const found = fold(letter);
  letters.set(letter, found);
  return found;
}

function fold(letter: string): string {
  const small = letter.toLowerCase();
  const bare = /[\p{Script=Latin}\p{Script=Greek}]/u.test(small)
    ? small.normalize("NFD").replace(/\p{M}/gu, "")
    : small;
  return bare.length === letter.length ? bare : small.length === letter.length ? small : letter;
}
