// Parses a regular expression into a tree. `RegExp` has already checked the syntax, so the parser reports only
// constructs that are not supported.

/** A node of the parsed pattern. `edge` is an assertion such as `^` or `\b`, `look` a lookahead or lookbehind. */
export type PatternNode =
  | { readonly kind: "set"; has(codePoint: number): boolean }
  | { readonly kind: "sequence"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "either"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly part: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: "edge"; readonly edge: Edge }
  | { readonly kind: "look"; readonly part: PatternNode; readonly ahead: boolean; readonly wanted: boolean };

export type Edge = "start" | "end" | "word" | "inside";

/** A valid regular expression that uses a construct which is not supported here. */
export class UnsupportedPattern extends Error {
  override readonly name = "UnsupportedPattern";
}

const MAX_DEPTH = 100;
const ESCAPE =
  /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|.)/suy;
const CLASS = /\[(?:\\.|[^\]\\])*\]/suy;
const COUNT = /\{(\d+)(?:(,)(\d*))?\}/y;
const LOOKS = [
  { opens: "(?=", ahead: true, wanted: true },
  { opens: "(?!", ahead: true, wanted: false },
  { opens: "(?<=", ahead: false, wanted: true },
  { opens: "(?<!", ahead: false, wanted: false },
];
const NAMED = /\(\?<[^>]*>/y;
const EDGES: ReadonlyMap<string, Edge> = new Map([
  ["\\b", "word"],
  ["\\B", "inside"],
]);

/** Throws a SyntaxError if `source` is no regular expression, and UnsupportedPattern if it is not supported. */
export function parsePattern(source: string): PatternNode {
  new RegExp(source, "u");
  return new Parser(source).either(0);
}

class Parser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  either(depth: number): PatternNode {
    if (depth > MAX_DEPTH) throw new UnsupportedPattern("it has too many groups in each other");
    const parts = [this.#sequence(depth)];
    while (this.#take("|")) parts.push(this.#sequence(depth));
    return parts.length === 1 ? parts[0]! : { kind: "either", parts };
  }

  #sequence(depth: number): PatternNode {
    const parts: PatternNode[] = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at]!))
      parts.push(this.#counted(this.#part(depth)));
    return parts.length === 1 ? parts[0]! : { kind: "sequence", parts };
  }

  #counted(part: PatternNode): PatternNode {
    const [min, max] = this.#count() ?? [1, 1];
    // Skips the `?` of a lazy quantifier: it changes which text is matched, not whether there is a match.
    if (min !== 1 || max !== 1) this.#take("?");
    return min === 1 && max === 1 ? part : { kind: "repeat", part, min, max };
  }

  #count(): readonly [number, number] | undefined {
    if (this.#take("*")) return [0, Number.POSITIVE_INFINITY];
    if (this.#take("+")) return [1, Number.POSITIVE_INFINITY];
    if (this.#take("?")) return [0, 1];
    const found = this.#match(COUNT);
    if (found === undefined) return undefined;
    const [, min, more, max] = found;
    if (more === undefined) {
      this.#take("?");
      return [Number(min), Number(min)];
    }
    return [Number(min), max === "" ? Number.POSITIVE_INFINITY : Number(max)];
  }

  #part(depth: number): PatternNode {
    if (this.#take("^")) return { kind: "edge", edge: "start" };
    if (this.#take("$")) return { kind: "edge", edge: "end" };
    if (this.#take(".")) return { kind: "set", has: (char) => ![10, 13, 0x2028, 0x2029].includes(char) };
    if (this.#source[this.#at] === "(") return this.#group(depth);
    const text = this.#match(CLASS)?.[0] ?? this.#match(ESCAPE)?.[0];
    if (text === undefined) {
      const char = this.#source.codePointAt(this.#at)!;
      this.#at += char > 0xffff ? 2 : 1;
      return { kind: "set", has: (other) => other === char };
    }
    const edge = EDGES.get(text);
    if (edge !== undefined) return { kind: "edge", edge };
    if (/^\\[1-9k]/.test(text)) throw new UnsupportedPattern("it refers back to what it has found");
    return { kind: "set", has: charactersOf(text) };
  }

  #group(depth: number): PatternNode {
    const look = LOOKS.find(({ opens }) => this.#take(opens));
    if (look === undefined && !this.#take("(?:") && this.#match(NAMED) === undefined) {
      if (this.#source.startsWith("(?", this.#at)) throw new UnsupportedPattern("it changes its own flags");
      this.#take("(");
    }
    const part = this.either(depth + 1);
    this.#take(")");
    return look === undefined ? part : { kind: "look", part, ahead: look.ahead, wanted: look.wanted };
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found === null) return undefined;
    this.#at += found[0].length;
    return found;
  }
}

/** Tests one character against a character class or an escape by `RegExp`, which cannot backtrack on one character. */
function charactersOf(text: string): (codePoint: number) => boolean {
  const pattern = new RegExp(`^${text}$`, "u");
  const known: (boolean | undefined)[] = [];
  return (char) => {
    const has = known[char] ?? pattern.test(String.fromCodePoint(char));
    if (char < 128) known[char] = has;
    return has;
  };
}
