/** What a rules file may hold: calls with literal arguments. */
export interface LiteralCall {
  readonly name: string;
  readonly line: number;
  readonly positional: readonly Literal[];
  readonly named: ReadonlyMap<string, Literal>;
}

export type Literal = string | null | readonly Literal[];

/** What is wrong in a rules file, and where. */
export class RulesError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/**
 * Reads the part of Starlark that rules files need: calls whose arguments are strings, lists of them, and `None`, and
 * comments. Everything else is an error: half of a program that computes its rules would be worse than none. `calls`
 * gets them one by one, so that it has those before an error.
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

/** Up to the first mistake, which is the last token then. */
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
      // Inside of brackets a line end means nothing.
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

/** `start`: behind the opening quote. A string says what is wrong. */
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
