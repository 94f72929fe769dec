import type { FoundCommand } from "./shell-syntax.ts";

const MAX_DEPTH = 8;
/** Limit on the commands that are inspected, including nested ones. */
const MAX_COMMANDS = 4096;

const SHELLS: ReadonlySet<string> = new Set([
  "sh",
  "bash",
  "zsh",
  "dash",
  "ksh",
  "mksh",
  "fish",
  "ash",
  "rbash",
]);
/** Programs and builtins that run the command in their arguments. */
const WRAPPERS: ReadonlySet<string> = new Set(
  `sudo doas su runuser pkexec env xargs parallel find fd fdfind command builtin exec nohup nice ionice chrt taskset time
  timeout setsid stdbuf unbuffer script strace ltrace gdb watch entr flock chroot unshare nsenter setpriv capsh busybox
  toybox bwrap systemd-run caffeinate rlwrap gtimeout`.split(/\s+/),
);
/** Programs and builtins that run their arguments as shell text. */
const TAKE_SHELL_TEXT: ReadonlySet<string> = new Set([
  "eval",
  "trap",
  "alias",
  "su",
  "runuser",
  "script",
  "env",
  "watch",
  "parallel",
]);

/** Parses nested shell text; null if it cannot be parsed. */
type ReadNested = (text: string) => readonly FoundCommand[] | null;

/**
 * Looks for `rm` with force or recursion, and for `find -delete`, including inside of wrapper programs and nested
 * shells. Commands that cannot be inspected count as dangerous. `found`: the leading literal words of every command.
 */
export function removesFiles(
  commands: readonly FoundCommand[],
  read: ReadNested,
): { readonly dangerous: boolean; readonly found: readonly (readonly string[])[] } {
  const found: (readonly string[])[] = [];
  let dangerous = false;
  const waiting = commands.map((command) => ({ command, depth: 0 }));
  for (let nth = 0; nth < waiting.length; nth++) {
    const { command, depth } = waiting[nth]!;
    const prefix = literalPrefix(command.words);
    if (prefix.length > 0) found.push(prefix);
    dangerous ||= isRemoval(command.words);
    const more = nestedIn(command, read);
    if (
      more === null ||
      (more.length > 0 && (depth >= MAX_DEPTH || waiting.length + more.length > MAX_COMMANDS))
    ) {
      dangerous = true;
      continue;
    }
    for (const inner of more) waiting.push({ command: inner, depth: depth + 1 });
  }
  return { dangerous, found };
}

function literalPrefix(words: readonly (string | null)[]): readonly string[] {
  const end = words.indexOf(null);
  return (end < 0 ? words : words.slice(0, end)) as readonly string[];
}

/** The commands that a command runs, as far as its words show them; null if nested text cannot be parsed. */
function nestedIn({ words, input }: FoundCommand, read: ReadNested): readonly FoundCommand[] | null {
  const [first, ...args] = words;
  if (first === null || first === undefined) return [];
  const name = baseName(first);
  const nested: FoundCommand[] = [];
  const texts: string[] = [];
  for (const at of startsIn(name, args)) nested.push({ words: args.slice(at), input });
  if (SHELLS.has(name)) {
    const script = args.findIndex((arg) => arg !== null && /^-[a-zA-Z]*c/.test(arg));
    if (script >= 0) texts.push(...literals(args.slice(script + 1, script + 2)));
    else texts.push(input);
  }
  if (name === "eval") texts.push(literals(args).join(" "));
  else if (name === "alias") texts.push(...literals(args).map((arg) => arg.slice(arg.indexOf("=") + 1)));
  else if (TAKE_SHELL_TEXT.has(name))
    texts.push(
      ...literals(args)
        .filter((arg) => /\s/.test(arg))
        .map(optionValue),
    );
  for (const text of texts) {
    if (text.trim() === "") continue;
    const inner = read(text);
    if (inner === null) return null;
    nested.push(...inner);
  }
  return nested;
}

/**
 * The positions in a wrapper's arguments where a command may begin. It is unknown which options have values, so the
 * first few operands count, and every word that names `rm`, a shell or another wrapper.
 */
function startsIn(name: string, args: readonly (string | null)[]): readonly number[] {
  if (!WRAPPERS.has(name)) return [];
  const starts: number[] = [];
  let operands = 0;
  for (const [at, arg] of args.entries()) {
    if (arg === null || arg.startsWith("-") || /^\w+=/.test(arg)) continue;
    const isFirst = /^(find|fd|fdfind)$/.test(name)
      ? EXEC_OPTION.test(args[at - 1] ?? "")
      : ++operands <= MAX_OPERANDS;
    if (isFirst || isWrapperOrRemoval(arg)) starts.push(at);
  }
  return starts;
}

const MAX_OPERANDS = 3;
const EXEC_OPTION = /^-(exec|execdir|ok|okdir|x|X|-exec|-exec-batch)$/;

/** Returns the shell text after an option's name, as in `-Srm -rf x` and `--command=rm -rf x`. */
function optionValue(arg: string): string {
  return arg.replace(/^(--[a-z-]+=|-[a-zA-Z](?=\S))/, "");
}

function literals(words: readonly (string | null)[]): readonly string[] {
  return words.filter((word) => word !== null);
}

function isWrapperOrRemoval(word: string): boolean {
  const name = baseName(word);
  return name === "rm" || WRAPPERS.has(name) || SHELLS.has(name) || TAKE_SHELL_TEXT.has(name);
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}

function isRemoval(words: readonly (string | null)[]): boolean {
  const [first, ...args] = words;
  if (first === undefined) return false;
  // The name is known only when the shell runs, and the options look like those of `rm -rf`.
  if (first === null)
    return args.some(
      (arg) => arg !== null && /^-[rRfvdiI]*(r|R)[rRfvdiI]*f|^-[rRfvdiI]*f[rRfvdiI]*(r|R)/.test(arg),
    );
  switch (baseName(first)) {
    case "rm":
      return hasForce(args);
    case "find":
      return args.includes("-delete");
    default:
      return false;
  }
}

function hasForce(args: readonly (string | null)[]): boolean {
  const end = args.indexOf("--");
  return (end < 0 ? args : args.slice(0, end)).some(
    // GNU programs accept any abbreviation of a long option.
    (arg) => arg !== null && (/^-[^-]*[rRf]/.test(arg) || /^--(r|f)/.test(arg)),
  );
}
