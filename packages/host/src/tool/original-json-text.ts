// JSON with numbers that JavaScript cannot represent. Parsing rounds integers beyond 2^53 and drops the notation of
// numbers (1.0, 1e3). The arguments of a tool call are therefore forwarded in the model's own text.

/** A text without a match contains no number that parsing changes. */
const MAY_CHANGE = /\d{16}|\d[.eE]|-0/;
/** A lone surrogate cannot be encoded in UTF-8; `JSON.stringify` escapes it. */
const LONE_SURROGATE = /\p{Cs}/u;

/**
 * The original text of a value, on one line, if its numbers differ from those in `JSON.stringify(value)`; else
 * undefined. A text with a duplicate key is not used, because another reader may pick the member that was not
 * checked.
 */
export function exactJson(text: string, value: unknown): string | undefined {
  if (!MAY_CHANGE.test(text) || LONE_SURROGATE.test(text)) return undefined;
  const written = scan(text);
  const parsed = scan(JSON.stringify(value));
  if (written.members !== parsed.members || written.numbers === parsed.numbers) return undefined;
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
