/** A match: the number of the entry, and its score. */
export interface Match {
  readonly entry: number;
  readonly score: number;
}

/** Keeps the best matches. Of two equal scores, the shorter path is better, then the path that sorts first. */
export class BestMatches {
  readonly #limit: number;
  readonly #pathOf: (entry: number) => string;
  #matches: Match[] = [];
  /** Increases with every change of the list. */
  version = 0;

  constructor(limit: number, pathOf: (entry: number) => string) {
    this.#limit = limit;
    this.#pathOf = pathOf;
  }

  add(entry: number, score: number): void {
    const matches = this.#matches;
    const last = matches[this.#limit - 1];
    // A quick exit: most matches are not among the best.
    if (last !== undefined && score < last.score) return;
    const match = { entry, score };
    if (last !== undefined && this.#compare(match, last) >= 0) return;
    let [low, high] = [0, matches.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compare(matches[middle]!, match) <= 0) low = middle + 1;
      else high = middle;
    }
    matches.splice(low, 0, match);
    if (matches.length > this.#limit) matches.pop();
    this.version++;
  }

  /** The matches, by descending score and then by path. */
  sorted(): readonly Match[] {
    return [...this.#matches].sort(
      (one, other) =>
        other.score - one.score || compareText(this.#pathOf(one.entry), this.#pathOf(other.entry)),
    );
  }

  #compare(one: Match, other: Match): number {
    if (one.score !== other.score) return other.score - one.score;
    const [path, others] = [this.#pathOf(one.entry), this.#pathOf(other.entry)];
    return path.length - others.length || compareText(path, others);
  }
}

/** Compares by code points, which is also the order of UTF-8. */
function compareText(one: string, other: string): number {
  if (one === other) return 0;
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (a === b) continue;
    // Surrogates stand for code points above all other UTF-16 units.
    const [isSurrogate, isOtherSurrogate] = [a >= 0xd800 && a <= 0xdfff, b >= 0xd800 && b <= 0xdfff];
    return isSurrogate === isOtherSurrogate ? a - b : isSurrogate ? 1 : -1;
  }
  return one.length - other.length;
}
