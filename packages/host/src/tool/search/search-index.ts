/** An entry of the index. */
export interface IndexEntry<T> {
  readonly value: T;
  /** `name`: text whose words have a higher weight. `about`: text whose words have the weight 1. */
  readonly name: string;
  readonly about: string;
}

/** Weight of a word in the name. */
const NAME_WEIGHT = 3;
// The usual constants of Okapi BM25.
const K1 = 1.2;
const B = 0.75;

interface Entry<T> {
  readonly value: T;
  readonly name: string;
  /** Weighted number of occurrences, by word. */
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** Finds tools by words, ranked by Okapi BM25. Ties are sorted by name. */
export class SearchIndex<T> {
  readonly #entries: readonly Entry<T>[];
  /** Number of entries that contain a word, by word. */
  readonly #documentCounts = new Map<string, number>();
  readonly #averageLength: number;

  constructor(searched: readonly IndexEntry<T>[]) {
    this.#entries = searched.map(({ value, name, about }) => {
      const counts = new Map<string, number>();
      for (const word of wordsOf(name)) counts.set(word, (counts.get(word) ?? 0) + NAME_WEIGHT);
      for (const word of wordsOf(about)) counts.set(word, (counts.get(word) ?? 0) + 1);
      for (const word of counts.keys())
        this.#documentCounts.set(word, (this.#documentCounts.get(word) ?? 0) + 1);
      return { value, name, counts, length: [...counts.values()].reduce((sum, one) => sum + one, 0) };
    });
    const total = this.#entries.reduce((sum, { length }) => sum + length, 0);
    this.#averageLength = Math.max(1, total / Math.max(1, this.#entries.length));
  }

  find(query: string, limit: number): readonly T[] {
    const words = [...new Set(wordsOf(query))];
    return this.#entries
      .map((entry) => ({ entry, score: words.reduce((sum, word) => sum + this.#score(entry, word), 0) }))
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score || (one.entry.name < other.entry.name ? -1 : 1))
      .slice(0, limit)
      .map(({ entry }) => entry.value);
  }

  #score({ counts, length }: Entry<T>, word: string): number {
    const count = counts.get(word);
    if (count === undefined) return 0;
    const documents = this.#documentCounts.get(word)!;
    const rarity = Math.log(1 + (this.#entries.length - documents + 0.5) / (documents + 0.5));
    return (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / this.#averageLength));
  }
}

/**
 * Splits a text into words. `readFile`, `read-file` and `read_file` give the same words, and a plural `s` is
 * removed.
 */
function wordsOf(text: string): readonly string[] {
  const parted = text.replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2").toLowerCase();
  return (parted.match(/[\p{L}\d]+/gu) ?? []).map((word) =>
    word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word,
  );
}
