// JSON with numbers that JavaScript cannot represent. Parsing rounds integers beyond 2^53 and drops the notation of
// numbers (1.0, 1e3). The arguments of a tool call are therefore forwarded in the model's own text.

/** A text without a match contains no number that parsing changes. */
const MAY_CHANGE = /\d{16}|\d[.eE]|-0/;
/** A lone surrogate cannot be encoded in UTF-8; `JSON.stringify` escapes it. */
const LONE_SURROGATE = /\p{Cs}/u;

/**
 * The original text of a value, on one line, if its numbers differ from those in `JSON.stringify(value)`; else
 * undefined. Of members with the same key, only the last one stays, as it is the one that was parsed and checked;
 * another reader may pick another one.
 */
export function exactJson(original: string, value: unknown): string | undefined {
  if (!MAY_CHANGE.test(original) || LONE_SURROGATE.test(original)) return undefined;
  const parsed = scan(JSON.stringify(value));
  const text = scan(original).members === parsed.members ? original : withoutDuplicates(original);
  if (text === undefined || scan(text).numbers === parsed.numbers) return undefined;
  // JSON strings contain no raw line breaks, so only white space is replaced.
  return text.replace(/[\r\n]/g, " ");
}

interface Scan {
  /** All numbers as written. Sorted, because a parsed object may have its keys in another order. */
  readonly numbers: string;
  /** The total number of members of all objects. */
  readonly members: number;
}

/** Scans a text, which must be valid JSON. */
function scan(json: string): Scan {
  const numbers: string[] = [];
  let members = 0;
  for (let at = 0; at < json.length; at++) {
    const char = json[at]!;
    if (char === '"') at = endOfString(json, at);
    else if (char === ":") members++;
    else if (char === "-" || isDigit(char)) {
      const from = at;
      while (isNumberPart(json[at + 1])) at++;
      numbers.push(json.slice(from, at + 1));
    }
  }
  return { numbers: numbers.sort().join(), members };
}

/** Undefined if the text is nested too deeply. */
function withoutDuplicates(json: string): string | undefined {
  try {
    return new LastMembers(json).value();
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    throw cause;
  }
}

/** Writes a text, which must be valid JSON, without the members that a later one with the same key replaces. */
class LastMembers {
  readonly #json: string;
  #at = 0;

  constructor(json: string) {
    this.#json = json;
  }

  value(): string {
    const first = this.#next();
    if (first === "{") return this.#object();
    if (first === "[") return this.#array();
    const from = this.#at;
    if (first === '"') this.#at = endOfString(this.#json, from) + 1;
    else while (/[^\s,\]}]/.test(this.#json[this.#at] ?? ",")) this.#at++;
    return this.#json.slice(from, this.#at);
  }

  #object(): string {
    const members = new Map<string, string>();
    this.#at++;
    while (this.#next() !== "}") {
      const key = JSON.parse(this.value()) as string;
      this.#skip(":");
      members.set(key, this.value());
      this.#skip(",");
    }
    this.#at++;
    return `{${[...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`;
  }

  #array(): string {
    const items: string[] = [];
    this.#at++;
    while (this.#next() !== "]") {
      items.push(this.value());
      this.#skip(",");
    }
    this.#at++;
    return `[${items.join()}]`;
  }

  /** The next character that is no white space. */
  #next(): string | undefined {
    while (/\s/.test(this.#json[this.#at] ?? "")) this.#at++;
    return this.#json[this.#at];
  }

  #skip(separator: string): void {
    if (this.#next() === separator) this.#at++;
  }
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  for (; at < json.length && json[at] !== '"'; at++) if (json[at] === "\\") at++;
  return at;
}

function isDigit(char: string): boolean {
  return char >= "0" && char <= "9";
}

function isNumberPart(char: string | undefined): boolean {
  return char !== undefined && (isDigit(char) || ".eE+-".includes(char));
}
