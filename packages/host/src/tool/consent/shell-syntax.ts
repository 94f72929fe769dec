import type { Assignment, DoubleQuotedChild, Word, WordPart } from "unbash";

/** A command in a shell text. Its words may depend on expansions. */
export interface FoundCommand {
  /** Null stands for a word that is known only when the shell runs. */
  readonly words: readonly (string | null)[];
  /** The command's standard input, if the text contains it (heredoc, here-string). */
  readonly input: string;
  /** Whether the standard input comes from another command, so that it is known only when the shell runs. */
  readonly isPiped: boolean;
}

/** How the shell of a command reads its text. Texts for shells of which that is not known are never plain. */
export type ShellSyntax = "bash" | "unknown";

/** How a shell that the model named reads plain commands, judging by its whole path. */
export function syntaxOf(path: string): ShellSyntax {
  return /^((\/usr(\/local)?|\/opt\/homebrew)?\/bin\/)?(ba|z|da|k|mk)?sh$/.test(path) ? "bash" : "unknown";
}

/**
 * The shell that runs the model's commands: the user's own, or `/bin/sh` if the user's reads text in another way than
 * bash (fish, nushell).
 */
export function commandShell(usersShell: string | undefined): string {
  return usersShell !== undefined && /^(.*\/)?(ba|z|da|k|mk)?sh$/.test(usersShell) ? usersShell : "/bin/sh";
}

/** Limit on a command's text, in UTF-16 units. */
export const MAX_TEXT = 64 * 1024;
const MAX_DEPTH = 64;
const MAX_OPENED = 2048;
const MAX_HEREDOCS = 64;
/** Limit on `$[`, the old form of `$((`. It is counted without its end, because the parser looks for that each time. */
const MAX_OLD_ARITHMETIC = 16;

/**
 * Whether the parser would take too long. Its time grows with the square of the nesting and of the number of
 * heredocs and of `$[`.
 */
export function isTooComplex(text: string): boolean {
  let depth = 0;
  let opened = 0;
  let documents = 0;
  let arithmetic = 0;
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
      case "[":
        if (text[at - 1] === "$" || text[at - 1] === "\n") arithmetic++;
        break;
    }
  }
  return opened > MAX_OPENED || documents > MAX_HEREDOCS || arithmetic > MAX_OLD_ARITHMETIC;
}

/** The value of a word that needs no expansion, else null. */
export function literalOf(word: Word | Assignment): string | null {
  if (word.type === "Assignment") {
    const { name, value } = word;
    return value.type === "Word" && isLiteral(value) ? `${name}=${value.value}` : null;
  }
  return isLiteral(word) ? word.value : null;
}

/**
 * The value of a word of a command for finding removals; null if the word may become an option, or several words.
 * Expansions stay as they are written in a word that is one word with a known beginning, as `"/tmp/$x"` and `a/*.o`.
 */
export function wordOf(word: Word | Assignment): string | null {
  const literal = literalOf(word);
  if (literal !== null) return literal;
  if (word.type === "Assignment") return `${word.name}=`;
  const [first] = word.parts ?? [];
  // Bash passes the path of a pipe.
  if (first?.type === "ProcessSubstitution") return "/dev/fd/63";
  if (/^\w+=/.test(word.text)) return word.text;
  if (/^"[^"$`\\-][^"]*"$/.test(word.text)) return word.text.slice(1, -1);
  const keepsBeginning = first?.type === "Literal" && /^[^-]/.test(first.value);
  return keepsBeginning && word.parts!.every((part) => part.type === "Glob" || isLiteralPart(part))
    ? word.text
    : null;
}

/**
 * The value of a command's name; null if it is known only when the shell runs. The last part of a path is enough, in
 * quotes, so that it stays one word: `"$HOME/bin/tool"`.
 */
export function nameOf(word: Word): string | null {
  return (
    literalOf(word) ??
    (/^"\$\{?\w+\}?"?(\/[\w.+-]+)+"?$/.test(word.text) ? word.text.replaceAll('"', "") : null)
  );
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
