import { type Command, forEachChild, type ParsedScript, parse, type SyntaxNode, type Word } from "unbash";
import { changesGitSettings, isPlainGitCommand } from "./git-commands.ts";
import { removesFiles } from "./removal-detection.ts";
import {
  type FoundCommand,
  isTooComplex,
  MAX_TEXT,
  nameOf,
  type ShellSyntax,
  wordOf,
} from "./shell-syntax.ts";

/** The result of analysing the text of a shell command without running it. */
export interface ParsedCommand {
  readonly text: string;
  /**
   * The words of each command, if the text is plain: commands whose words bash uses exactly as written, separated by
   * `&&`, `||`, `;`, `|` and line ends. Null if the shell would expand, redirect or assign anything.
   */
  readonly words: readonly (readonly string[])[] | null;
  /**
   * Every command in the text, including those in nested shells: its words up to the first word that is not literal.
   */
  readonly found: readonly (readonly string[])[];
  /** Whether the text is plain and contains only git commands that run no program of the caller's choice. */
  readonly isPlainGit: boolean;
  /**
   * Whether the text is plain and contains only git commands, one of which changes repository settings that the
   * sandbox protects.
   */
  readonly changesGitSettings: boolean;
  /** Whether the command removes files with force or recursion, or cannot be told not to. */
  readonly isDangerous: boolean;
  /**
   * Why it cannot be told what the text does; null if it can. Such a text is neither plain nor known to be harmless.
   */
  readonly problem: string | null;
}

/**
 * Parses the text of a command. Never throws. The text is parsed only if it is short and flat enough, and so is what is
 * nested in it, so that the time grows no faster than the text. `syntax`: how the shell reads it that runs it.
 */
export function parseCommand(text: string, syntax: ShellSyntax): ParsedCommand {
  const read = readShell(text);
  if (typeof read === "string") return { ...UNREAD, text, problem: read };
  const { script, found } = read;
  const removal = removesFiles(found, (nested) => {
    const inner = readShell(nested);
    return typeof inner === "string" ? null : inner.found;
  });
  const problem =
    syntax === "unknown"
      ? "its shell is not one whose syntax is known"
      : script.errors?.length
        ? "its syntax is not understood"
        : removal.isComplete
          ? null
          : TOO_DEEP;
  if (problem !== null) return { ...UNREAD, text, found: removal.found, problem };
  const words = plainWords(script, text);
  return {
    text,
    words,
    found: removal.found,
    isPlainGit: words?.every(isPlainGitCommand) ?? false,
    changesGitSettings: (words?.every(([name]) => name === "git") && words.some(changesGitSettings)) ?? false,
    isDangerous: removal.dangerous,
    problem: null,
  };
}

const UNREAD = {
  words: null,
  found: [],
  isPlainGit: false,
  changesGitSettings: false,
  isDangerous: true,
} as const;

const TOO_DEEP = "it is nested too deeply";

interface ShellText {
  readonly script: ParsedScript;
  readonly found: readonly FoundCommand[];
}

/** Parses shell text. Returns a string with the reason if it cannot be parsed. */
function readShell(text: string): ShellText | string {
  if (text.length > MAX_TEXT) return `it is longer than ${MAX_TEXT / 1024} KiB`;
  if (isTooComplex(text)) return TOO_DEEP;
  try {
    const script = parse(text);
    return { script, found: commandsIn(script) };
  } catch {
    // The parser does not limit the nesting of some constructs, so the stack may overflow.
    return TOO_DEEP;
  }
}

/** All commands in a script, including those in control flow, functions and substitutions. */
function commandsIn(script: ParsedScript): readonly FoundCommand[] {
  const found: FoundCommand[] = [];
  const waiting: { readonly node: SyntaxNode; readonly isPiped: boolean }[] = [
    { node: script, isPiped: false },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, isPiped } = next;
    if (node.type === "Command") found.push(foundCommand(node, isPiped));
    const first = node.type === "Pipeline" ? node.commands[0] : undefined;
    const feeds = first !== undefined || (node.type === "Redirected" && inputOf(node.redirects) !== "");
    const children: SyntaxNode[] = [];
    forEachChild(node, (child) => children.push(child));
    for (const child of children.reverse())
      waiting.push({ node: child, isPiped: isPiped || (feeds && child !== first) });
  }
  return found;
}

function foundCommand({ name, args, redirects }: Command, isPiped: boolean): FoundCommand {
  const words = name === undefined ? [] : [nameOf(name), ...args.map(wordOf)];
  return { words, input: inputOf(redirects), isPiped };
}

/** The standard input of a command as far as its text contains it. */
function inputOf(redirects: Command["redirects"]): string {
  return redirects
    .map((one) =>
      one.type === "HereDoc" ? one.body.text : one.type === "HereString" ? (one.target?.value ?? "") : "",
    )
    .join("\n");
}

/** The words of each command if the text is plain, else null. */
function plainWords(script: ParsedScript, text: string): readonly (readonly string[])[] | null {
  const commands = plainCommands(script);
  if (commands === null || commands.length === 0) return null;
  // Only blanks and operators may be between the words, so that no command is hidden in text that the parser skipped.
  let at = 0;
  for (const words of commands) {
    for (const [nth, word] of words.entries()) {
      const between = text.slice(at, word.pos);
      if (!(nth > 0 ? /^[ \t]+$/ : at === 0 ? /^\s*$/ : OPERATOR).test(between)) return null;
      if (!(nth === 0 ? NAME : WORD).test(text.slice(word.pos, word.end))) return null;
      at = word.end;
    }
  }
  if (!/^[ \t\n]*;?[ \t\n]*$/.test(text.slice(at))) return null;
  return commands.map((words) => words.map(({ value }) => value));
}

const OPERATOR = /^[ \t]*(&&|\|\||;|\||\n)[ \t\n]*$/;
/**
 * A word of plain text: harmless characters, a tilde inside of a name (`HEAD~1`), escaped printable characters, and
 * quoted strings. Double quotes contain nothing that is expanded. Zsh would replace a word that begins with `=` by the
 * path of a program, and may expand a word that begins with `^` to file names.
 */
const PIECES = String.raw`(?:[A-Za-z0-9_^]~|[A-Za-z0-9_\-.,/:@%+^=]|\\[ -~]|'[^'\0]*'|"(?:[^"$\x60\\\0]|\\["\\A-Za-z0-9. ()|+*?\[\]{}<>/-])*")`;
const WORD = new RegExp(`^(?![=^]|-[^'"]*\\^)${PIECES}+$`);
/** The first word: a name without quotes that is neither an assignment nor the number of a job (`%1`). */
const NAME = /^(?!%)[A-Za-z0-9_\-./+@%:,]+$/;

/** The commands in order; null if there is anything but plain operators between them. */
function plainCommands({ commands }: ParsedScript): readonly (readonly Word[])[] | null {
  const all: (readonly Word[])[] = [];
  const add = (node: SyntaxNode): boolean => {
    switch (node.type) {
      case "AndOr":
        return node.commands.every(add);
      case "Pipeline":
        return (
          node.prefixes.length === 0 && node.operators.every((one) => one === "|") && node.commands.every(add)
        );
      case "Command": {
        const { name, prefix, suffix } = node;
        if (name === undefined || prefix.length > 0 || !suffix.every(isWord)) return false;
        all.push([name, ...suffix]);
        return true;
      }
      default:
        return false;
    }
  };
  return commands.every(({ command, background }) => !background && add(command)) ? all : null;
}

function isWord(node: SyntaxNode): node is Word {
  return node.type === "Word";
}
