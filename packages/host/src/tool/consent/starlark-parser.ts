/** A call with literal arguments: the only statement in a rules file. */
export interface LiteralCall {
  readonly name: string;
  readonly line: number;
  readonly positional: readonly Literal[];
  readonly named: ReadonlyMap<string, Literal>;
}

export type Literal = string | null | readonly Literal[];

/** A mistake in a rules file, with its line. */
export class RulesError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/**
 * Parses the part of Starlark that rules files use: comments, and calls whose arguments are strings, lists and
 * `None`. Everything else is an error, because a file that computes its rules would be understood only partly. Each
 * call is pushed to `calls` when it was parsed, so that the calls before an error are available.
 */
export function readCalls(text: string, calls: LiteralCall[]): void {
  const tokens = tokensOf(text);
  let at = 0;
  const peek = (): Token => {
    const token = tokens[at]!;
    if (token.type === "error") throw new RulesError(token.line, token.value);
    return token;
  };
  const take = (type: Token["type"], value?: string): Token => {
    const token = peek();
    if (token.type !== type || (value !== undefined && token.value !== value))
      throw new RulesError(token.line, `expected ${value ?? type}, found ${nameOf(token)}`);
    at++;
    return token;
  };
  const isNext = (value: string): boolean => peek().type === "mark" && peek().value === value;
  const separated = (end: string, one: () => void): void => {
    while (!isNext(end)) {
      one();
      if (!isNext(end)) take("mark", ",");
    }
    take("mark", end);
  };
  const literal = (depth: number): Literal => {
    const token = peek();
    if (token.type === "string") return take("string").value;
    if (token.type === "name" && token.value === "None") {
      at++;
      return null;
    }
    if (!isNext("[")) throw new RulesError(token.line, `expected a string or a list, found ${nameOf(token)}`);
    if (depth > 2) throw new RulesError(token.line, "lists are nested too deeply");
    take("mark", "[");
    const items: Literal[] = [];
    separated("]", () => items.push(literal(depth + 1)));
    return items;
  };
  const call = (): LiteralCall => {
    const { value: name, line } = take("name");
    const positional: Literal[] = [];
    const named = new Map<string, Literal>();
    take("mark", "(");
    separated(")", () => {
      const next = tokens[at + 1];
      if (peek().type === "name" && next?.type === "mark" && next.value === "=") {
        const key = take("name");
        take("mark", "=");
        if (named.has(key.value)) throw new RulesError(key.line, `${key.value} is given twice`);
        named.set(key.value, literal(0));
        return;
      }
      if (named.size > 0) throw new RulesError(peek().line, "a positional argument follows a named one");
      positional.push(literal(0));
    });
    return { name, line, positional, named };
  };
  for (;;) {
    while (peek().type === "line end" || isNext(";")) at++;
    if (peek().type === "end") return;
    calls.push(call());
    if (peek().type !== "end" && !isNext(";")) take("line end");
  }
}

interface Token {
  readonly type: "name" | "string" | "mark" | "line end" | "end" | "error";
  readonly value: string;
  readonly line: number;
}

function nameOf({ type, value }: Token): string {
  return type === "name" || type === "mark" ? value : `a ${type}`;
}

const BLANK = /[ \t\r]+|\\\r?\n|#[^\n]*/y;
const NAME = /[A-Za-z_]\w*/y;
const STRING = /(r?)("""|'''|"|')/y;

/** Splits the text into tokens. If there is a mistake, the last token is an `error`. */
function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let depth = 0;
  const matchAt = (pattern: RegExp, at: number): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  for (let at = text.startsWith("\uFEFF") ? 1 : 0; at < text.length; ) {
    const char = text[at]!;
    const blank = matchAt(BLANK, at);
    if (blank !== null) {
      if (blank[0].includes("\n")) line++;
      at += blank[0].length;
      continue;
    }
    if (char === "\n") {
      // Line ends inside of brackets are ignored.
      if (depth === 0) tokens.push({ type: "line end", value: "\n", line });
      line++;
      at++;
      continue;
    }
    const quote = matchAt(STRING, at);
    if (quote !== null) {
      const string = stringAt(text, at + quote[0].length, quote[2]!, quote[1] === "r");
      if (typeof string === "string") {
        tokens.push({ type: "error", value: string, line });
        return tokens;
      }
      const { value, end } = string;
      tokens.push({ type: "string", value, line });
      line += text.slice(at, end).split("\n").length - 1;
      at = end;
      continue;
    }
    const name = matchAt(NAME, at);
    if (name !== null) {
      tokens.push({ type: "name", value: name[0], line });
      at += name[0].length;
      continue;
    }
    if (!"()[],=;".includes(char)) {
      tokens.push({ type: "error", value: `unexpected ${JSON.stringify(char)}`, line });
      return tokens;
    }
    if (char === "(" || char === "[") depth++;
    if (char === ")" || char === "]") depth = Math.max(0, depth - 1);
    tokens.push({ type: "mark", value: char, line });
    at++;
  }
  tokens.push({ type: "end", value: "", line });
  return tokens;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  f: "\f",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "\n": "",
};
const CODE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3}))/y;

/**
 * Parses a string that begins at `start`, after the opening quote. Returns an error message if the string is
 * malformed.
 */
function stringAt(
  text: string,
  start: number,
  quote: string,
  raw: boolean,
): { readonly value: string; readonly end: number } | string {
  let value = "";
  for (let at = start; at < text.length; ) {
    if (text.startsWith(quote, at)) return { value, end: at + quote.length };
    const char = text[at]!;
    if (char === "\n" && quote.length === 1) break;
    if (char !== "\\") {
      value += char;
      at++;
      continue;
    }
    const next = text[at + 1] ?? "";
    if (raw) {
      value += char + next;
      at += 2;
      continue;
    }
    CODE.lastIndex = at;
    const code = CODE.exec(text);
    if (code !== null) {
      const point =
        code[4] === undefined
          ? Number.parseInt((code[1] ?? code[2] ?? code[3])!, 16)
          : Number.parseInt(code[4], 8);
      if (point > 0x10ffff) return `there is no character ${code[0]}`;
      value += String.fromCodePoint(point);
      at += code[0].length;
      continue;
    }
    const escaped = ESCAPES[next];
    if (escaped === undefined) return `unknown escape \\${next}`;
    value += escaped;
    at += 2;
  }
  return "a string is not closed";
}
