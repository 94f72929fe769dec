// JSON with numbers that JavaScript cannot hold. Parsing rounds an integer beyond 2^53 and forgets how a number was
// written (1.0, 1e3), so what a model wrote for a tool is sent on as it wrote it.

/** Without one of these, a text has no number that is changed by parsing it. */
const MAY_CHANGE = /\d{16}|\d[.eE]|-0/;
/** No UTF-8 has it; `JSON.stringify` escapes it. */
const LONE_SURROGATE = /\p{Cs}/u;

/**
 * The text in which a value was written, on one line, if its numbers are not those of `JSON.stringify(value)`; else
 * undefined. A text that names a key twice is left to `JSON.stringify`, because its readers may not choose the same one
 * as those who checked the value.
 */
export function exactJson(text: string, value: unknown): string | undefined {
  if (!MAY_CHANGE.test(text) || LONE_SURROGATE.test(text)) return undefined;
  const written = scan(text);
  const parsed = scan(JSON.stringify(value));
  if (written.members !== parsed.members || written.numbers === parsed.numbers) return undefined;
  // Inside of a JSON string there are no line breaks.
  return text.replace(/[\r\n]/g, " ");
}

interface Scan {
  /** All numbers, as they are written; sorted, because a parsed object may have its keys in another order. */
  readonly numbers: string;
  /** How many members all objects have together. */
  readonly members: number;
}

/** Looks through a text that is known to be JSON. */
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
