import { contiguousScore, FuzzyScorer, Haystack, letterPosition } from "./fuzzy-score.ts";
import { isAscii, lettersOf, toLowerCode, withoutDiacritics } from "./letters.ts";
import { parsePattern, type Word } from "./query-pattern.ts";

/** A word of the query; `text` is its lower-case form if it is ASCII. */
interface QueryWord extends Word {
  readonly text: string | undefined;
}

/** A path prepared for matching; reused for many queries. */
export interface PreparedPath {
  readonly path: string;
  /** The lower-case path, if it is ASCII. */
  readonly lower: string | undefined;
}

/** Scores paths against one query. */
export class PathMatcher {
  readonly #words: readonly QueryWord[];
  readonly #scorer = new FuzzyScorer();
  readonly #haystack = new Haystack();
  /** The path that the haystack contains. It is filled only for paths that pass the quick check. */
  #filled: { readonly path: PreparedPath; readonly withDiacritics: boolean } | undefined;

  constructor(query: string) {
    this.#words = parsePattern(query).map((word) => ({
      ...word,
      text: word.letters.every((code) => code < 128) ? String.fromCharCode(...word.letters) : undefined,
    }));
  }

  /** The score of a path; undefined if it does not match, 0 for every path if the query is empty. */
  score(prepared: PreparedPath): number | undefined {
    let sum = 0;
    for (const word of this.#words) {
      const score = this.#scoreOf(word, prepared);
      if ((score === undefined) !== word.negative) return undefined;
      if (!word.negative) sum += score!;
    }
    return sum;
  }

  /** The matched positions of a path, in order. */
  indices(prepared: PreparedPath): number[] {
    const found = new Set<number>();
    for (const word of this.#words)
      if (!word.negative) for (const at of this.#indicesOf(word, prepared)) found.add(at);
    return [...found].sort((one, other) => one - other);
  }

  #scoreOf(word: QueryWord, prepared: PreparedPath): number | undefined {
    if (!mayMatch(word, prepared)) return undefined;
    const haystack = this.#fill(prepared, word.hasDiacritics);
    if (isFuzzy(word)) {
      const start = fuzzyStart(word, haystack);
      return start === undefined ? undefined : this.#scorer.score(haystack, word.letters, start);
    }
    const at = literalPosition(word, haystack);
    return at === undefined ? undefined : contiguousScore(haystack, at, word.letters.length);
  }

  #indicesOf(word: QueryWord, prepared: PreparedPath): readonly number[] {
    const haystack = this.#fill(prepared, word.hasDiacritics);
    if (isFuzzy(word)) {
      const start = fuzzyStart(word, haystack);
      return start === undefined ? [] : this.#scorer.indices(haystack, word.letters, start);
    }
    const at = literalPosition(word, haystack);
    return at === undefined ? [] : word.letters.map((_, nth) => at + nth);
  }

  #fill(prepared: PreparedPath, withDiacritics: boolean): Haystack {
    const filled = this.#filled;
    // For an ASCII path diacritics make no difference.
    if (
      filled?.path === prepared &&
      (prepared.lower !== undefined || filled.withDiacritics === withDiacritics)
    )
      return this.#haystack;
    const { path, lower } = prepared;
    if (lower !== undefined) this.#haystack.fillAscii(path, lower);
    else
      this.#haystack.fill(lettersOf(path), (code) =>
        toLowerCode(withDiacritics ? code : withoutDiacritics(code)),
      );
    this.#filled = { path: prepared, withDiacritics };
    return this.#haystack;
  }
}

export function preparePath(path: string): PreparedPath {
  return { path, lower: isAscii(path) ? path.toLowerCase() : undefined };
}

/** A quick check that rules out most paths. */
function mayMatch(word: QueryWord, { lower }: PreparedPath): boolean {
  if (lower === undefined) return true;
  const { text } = word;
  if (text === undefined) return false;
  if (!isFuzzy(word)) return lower.includes(text);
  let at = -1;
  for (let nth = 0; nth < text.length; nth++) {
    at = lower.indexOf(text[nth]!, at + 1);
    if (at === -1) return false;
  }
  return true;
}

/** Whether a word is matched fuzzily; a single letter never is. */
function isFuzzy({ kind, letters }: Word): boolean {
  return kind === "fuzzy" && letters.length > 1;
}

/** The first position of a word's first letter, if all its letters follow in order. */
function fuzzyStart({ letters }: Word, { codes, length }: Haystack): number | undefined {
  let start: number | undefined;
  let nth = 0;
  for (let at = 0; at < length && nth < letters.length; at++) {
    if (codes[at] !== letters[nth]) continue;
    if (nth++ === 0) start = at;
  }
  return nth === letters.length ? start : undefined;
}

/** The best position of a literal match. */
function literalPosition({ kind, letters }: Word, haystack: Haystack): number | undefined {
  const last = haystack.length - letters.length;
  if (last < 0) return undefined;
  const isAt = (at: number): boolean => letters.every((code, nth) => haystack.codes[at + nth] === code);
  switch (kind) {
    case "prefix":
      return isAt(0) ? 0 : undefined;
    case "postfix":
      return isAt(last) ? last : undefined;
    case "exact":
      return last === 0 && isAt(0) ? 0 : undefined;
    default:
      return letters.length === 1
        ? letterPosition(haystack, letters[0]!)
        : bestPosition(letters.length, last, haystack, isAt);
  }
}

function bestPosition(
  length: number,
  last: number,
  haystack: Haystack,
  isAt: (at: number) => boolean,
): number | undefined {
  let best: number | undefined;
  let most = -1;
  for (let at = 0; at <= last; at++) {
    if (!isAt(at)) continue;
    const score = contiguousScore(haystack, at, length);
    if (score > most) [best, most] = [at, score];
  }
  return best;
}
