import { asciiClassOf, classOf, LetterClass } from "./letters.ts";

// Scores of the fuzzy matcher. The numbers equal those of the Codex CLI's matcher, so that both rank alike.
const MATCH = 16;
const GAP_START = 3;
const GAP_EXTENSION = 1;
const BOUNDARY = 8;
const BOUNDARY_DELIMITER = 9;
const CAMEL_OR_NUMBER = 5;
const NON_WORD = 8;
const CONSECUTIVE = 4;
const FIRST_LETTER = 2;

const CLASSES = 7;
const { whitespace, nonWord, delimiter, lower, upper, number } = LetterClass;

/** Bonus of a matched letter, by its class and the class of the letter before it. */
const BONUS = Uint8Array.from({ length: CLASSES * CLASSES }, (_, at) => {
  const [before, now] = [Math.floor(at / CLASSES), at % CLASSES];
  if (now > delimiter) {
    if (before === whitespace || before === nonWord) return BOUNDARY;
    if (before === delimiter) return BOUNDARY_DELIMITER;
  }
  if ((before === lower && now === upper) || (before !== number && now === number)) return CAMEL_OR_NUMBER;
  if (now === whitespace) return BOUNDARY;
  return now === nonWord ? NON_WORD : 0;
});

/** A text to search in: its letters in the form in which they are compared, and a bonus for each letter. */
export class Haystack {
  codes = new Uint32Array(256);
  bonus = new Uint8Array(256);
  length = 0;

  /** Fills in an ASCII text, given together with its lower-case form. */
  fillAscii(text: string, lower: string): void {
    this.#reserve(text.length);
    const { codes, bonus } = this;
    // The start of the text counts as a delimiter.
    let before: number = delimiter;
    for (let at = 0; at < text.length; at++) {
      codes[at] = lower.charCodeAt(at);
      const now = asciiClassOf(text.charCodeAt(at));
      bonus[at] = BONUS[before * CLASSES + now]!;
      before = now;
    }
  }

  /** Fills the haystack with any letters. `compared` maps each letter to the form in which it is compared. */
  fill(letters: readonly number[], compared: (code: number) => number): void {
    this.#reserve(letters.length);
    let before: number = delimiter;
    for (const [at, code] of letters.entries()) {
      this.codes[at] = compared(code);
      const now = classOf(code);
      this.bonus[at] = BONUS[before * CLASSES + now]!;
      before = now;
    }
  }

  #reserve(length: number): void {
    this.length = length;
    if (this.codes.length >= length) return;
    this.codes = new Uint32Array(length * 2);
    this.bonus = new Uint8Array(length * 2);
  }
}

/** The score of a contiguous match at `start`. */
export function contiguousScore(haystack: Haystack, start: number, length: number): number {
  const first = haystack.bonus[start]!;
  let score = MATCH + first * FIRST_LETTER;
  let run = first;
  for (let at = start + 1; at < start + length; at++) {
    const bonus = haystack.bonus[at]!;
    run = runBonus(run, bonus);
    score += MATCH + Math.max(run, bonus);
  }
  return score;
}

/** The position for a single letter: the first at a word boundary, else the first with the highest bonus. */
export function letterPosition(haystack: Haystack, code: number): number | undefined {
  let best: number | undefined;
  let most = -1;
  for (let at = 0; at < haystack.length; at++) {
    if (haystack.codes[at] !== code) continue;
    const bonus = haystack.bonus[at]!;
    if (bonus > most) [best, most] = [at, bonus];
    if (bonus >= BOUNDARY) break;
  }
  return best;
}

/** The bonus of consecutive letters: at least that of the best boundary among them. */
function runBonus(run: number, bonus: number): number {
  const atLeast = Math.max(run, CONSECUTIVE);
  return bonus >= BOUNDARY && bonus > atLeast ? bonus : atLeast;
}

const NONE = -1;

/**
 * Finds the best fuzzy match of a needle: its letters in order, with gaps, by dynamic programming. One instance is
 * used for many searches, so that its tables are reused.
 */
export class FuzzyScorer {
  /**
   * Per position: the best score if the latest letter matches there, and the bonus of the consecutive run that ends
   * there.
   */
  #matched = new Int32Array(256);
  #run = new Uint8Array(256);
  /**
   * Per letter and position, for tracing back: whether the previous letter is directly before it, and whether a gap
   * begins there.
   */
  #together = new Uint8Array(0);
  #gapBegins = new Uint8Array(0);

  /** The score; undefined if the needle does not match. `start`: the first position of the needle's first letter. */
  score(haystack: Haystack, needle: readonly number[], start: number): number | undefined {
    return this.#fill(haystack, needle, start, false)?.score;
  }

  /** The positions of the letters in the best match. */
  indices(haystack: Haystack, needle: readonly number[], start: number): number[] {
    const best = this.#fill(haystack, needle, start, true);
    if (best === undefined) return [];
    const width = haystack.length - start;
    const found: number[] = [];
    let at = best.at;
    for (let letter = needle.length - 1; letter >= 0; letter--) {
      found.push(start + at);
      if (letter === 0) break;
      if (this.#together[letter * width + at] === 1) at -= 1;
      else {
        at -= 1;
        while (this.#gapBegins[(letter - 1) * width + at] === 0) at -= 1;
        at -= 1;
      }
    }
    return found.reverse();
  }

  #fill(
    haystack: Haystack,
    needle: readonly number[],
    start: number,
    trace: boolean,
  ): { readonly score: number; readonly at: number } | undefined {
    const width = haystack.length - start;
    this.#reserve(width, trace ? needle.length : 0);
    const { codes, bonus } = haystack;
    const matched = this.#matched;
    const runs = this.#run;
    for (let at = 0; at < width; at++) {
      const worth = bonus[start + at]!;
      matched[at] = codes[start + at] === needle[0] ? MATCH + worth * FIRST_LETTER : NONE;
      runs[at] = worth;
    }
    for (let letter = 1; letter < needle.length; letter++)
      this.#nextLetter(haystack, needle[letter]!, letter, start, trace);
    let score = NONE;
    let best = NONE;
    for (let at = 0; at < width; at++) {
      const found = matched[at]!;
      // Of two equal scores, the later position is used.
      if (found === NONE || found < score) continue;
      score = found;
      best = at;
    }
    return score === NONE ? undefined : { score, at: best };
  }

  /** Computes the scores for the next letter from those of the previous one. */
  #nextLetter(haystack: Haystack, code: number, letter: number, start: number, trace: boolean): void {
    const { codes } = haystack;
    const width = haystack.length - start;
    const matched = this.#matched;
    const runs = this.#run;
    /** The best score with the previous letter matched further back, minus the cost of the gap. */
    let gap = NONE;
    /** The score with the previous letter matched at the previous position. */
    let before = NONE;
    let runBefore = 0;
    for (let at = 0; at < width; at++) {
      const bonus = haystack.bonus[start + at]!;
      const nowBefore = matched[at]!;
      const nowRun = runs[at]!;
      if (codes[start + at] !== code || (before === NONE && gap === NONE)) matched[at] = NONE;
      else {
        const run = runBonus(runBefore, bonus);
        const together = before === NONE ? NONE : before + Math.max(run, bonus);
        const apart = gap === NONE ? NONE : gap + bonus;
        const isTogether = together > apart;
        matched[at] = MATCH + (isTogether ? together : apart);
        runs[at] = isTogether ? run : bonus;
        if (trace) this.#together[letter * width + at] = isTogether ? 1 : 0;
      }
      const begins = before === NONE ? NONE : Math.max(0, before - GAP_START);
      const goesOn = gap === NONE ? NONE : Math.max(0, gap - GAP_EXTENSION);
      if (trace) this.#gapBegins[(letter - 1) * width + at] = begins > goesOn ? 1 : 0;
      gap = Math.max(begins, goesOn);
      before = nowBefore;
      runBefore = nowRun;
    }
  }

  #reserve(width: number, letters: number): void {
    if (this.#matched.length < width) {
      this.#matched = new Int32Array(width * 2);
      this.#run = new Uint8Array(width * 2);
    }
    if (this.#together.length < width * letters) {
      this.#together = new Uint8Array(width * letters * 2);
      this.#gapBegins = new Uint8Array(width * letters * 2);
    }
  }
}
