import type { Assignment, DoubleQuotedChild, Word, WordPart } from "unbash";

/** A command as it stands in a text, which need not be plain. */
export interface FoundCommand {
  /** Null for a word that the shell makes while it runs. */
  readonly words: readonly (string | null)[];
  /** What it reads from its standard input, as far as the text says so. */
  readonly input: string;
}

/** Whether a program reads plain text as bash does, by its name and where it is. */
export function isShell(path: string): boolean {
  return /^((\/usr(\/local)?|\/opt\/homebrew)?\/bin\/)?(ba|z|da|k|mk)?sh$/.test(path);
}

/** In UTF-16 units. */
export const MAX_TEXT = 64 * 1024;
const MAX_DEPTH = 64;
const MAX_OPENED = 2048;
const MAX_HEREDOCS = 64;

/** Whether the parser would take long: its work grows with the square of what is nested, and of documents in line. */
export function isTooComplex(text: string): boolean {
  let depth = 0;
  let opened = 0;
  let documents = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case "(":
      case "{":
        opened++;
        if (++depth > MAX_DEPTH) return true;
        break;
      case ")":
      case "}":
        if (depth > 0) depth--;
        break;
      case "`":
        opened++;
        break;
      case "<":
        if (text[at + 1] === "<") documents++;
        break;
    }
  }
  return opened > MAX_OPENED || documents > MAX_HEREDOCS;
}

/** What a word comes to if the shell takes it as it stands, else null. */
export function literalOf(word: Word | Assignment): string | null {
  if (word.type === "Assignment") {
    const { name, value } = word;
    return value.type === "Word" && isLiteral(value) ? `${name}=${value.value}` : null;
  }
  return isLiteral(word) ? word.value : null;
}

function isLiteral({ parts }: Word): boolean {
  return parts === undefined || parts.every(isLiteralPart);
}

function isLiteralPart(part: WordPart | DoubleQuotedChild): boolean {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return true;
    case "DoubleQuoted":
    case "LocaleString":
      return part.parts.every(isLiteralPart);
    default:
      return false;
  }
}
