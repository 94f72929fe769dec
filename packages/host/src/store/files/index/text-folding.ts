/**
 * Normalizes a text for searches: lower case, and Latin and Greek letters without accents. The result has the same
 * length, so that offsets stay valid. Null if nothing changes except the case of ASCII letters, which SQLite ignores
 * by itself.
 */
export function folded(text: string): string | null {
  if (/^[\0-\x7f]*$/.test(text)) return null;
  const small = text.replace(/[^\0-\x7f]/gu, foldedLetter);
  return small === text ? null : small;
}

const letters = new Map<string, string>();
/** Limit on the cached letters. Texts in many scripts would fill the cache with rare letters. */
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
  return bare.length === letter.length ? bare : letter;
}
