import type { Assignment, DoubleQuotedChild, Word, WordPart } from "unbash";

/** A command in a shell text. Its words may depend on expansions. */
export interface FoundCommand {
  /** Null stands for a word that is known only when the shell runs. */
  readonly words: readonly (string | null)[];
  /** The command's standard input, if the text contains it (heredoc, here-string, `echo … |`). */
  readonly input: string;
}

/** Whether a program is a shell that reads plain commands as bash does, judging by its path. */
export function isShell(path: string): boolean {
  return /^((\/usr(\/local)?|\/opt\/homebrew)?\/bin\/)?(ba|z|da|k|mk)?sh$/.test(path);
}

/** Limit on a command's text, in UTF-16 units. */
export const MAX_TEXT = 64 * 1024;
const MAX_DEPTH = 64;
const MAX_OPENED = 2048;
const MAX_HEREDOCS = 64;

/**
 * Whether the parser would take too long. Its time grows with the square of the nesting and of the number of
 * heredocs.
 */
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

/** The value of a word that needs no expansion, else null. */
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
