import type { FoundCommand } from "./shell-syntax.ts";

const MAX_DEPTH = 8;
/** Limit on the words that are inspected, and on the nested text that is parsed, in UTF-16 units. */
const MAX_WORDS = 64 * 1024;
const MAX_NESTED = 64 * 1024;

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
  toybox bwrap systemd-run caffeinate rlwrap gtimeout noglob nocorrect repeat -`.split(/\s+/),
);
/** Wrappers that append words, which are known only when they run. */
const APPENDING: ReadonlySet<string> = new Set(["xargs", "parallel", "fd", "fdfind"]);
/** Programs and builtins that run their arguments as shell text. */
const TAKE_SHELL_TEXT: ReadonlySet<string> = new Set(["su", "runuser", "script", "env", "watch", "parallel"]);

/** Parses nested shell text; null if it cannot be parsed. */
type ReadNested = (text: string) => readonly FoundCommand[] | null;

/**
 * Looks for `rm` with force or recursion, and for `find -delete`, including inside of wrapper programs and nested
 * shells. What cannot be told counts as dangerous. `found`: the leading literal words of every command. `isComplete`:
 * whether all commands were inspected; otherwise there is more nested in them than the limits allow.
 */
export function removesFiles(
  commands: readonly FoundCommand[],
  read: ReadNested,
): {
  readonly dangerous: boolean;
  readonly found: readonly (readonly string[])[];
  readonly isComplete: boolean;
} {
  const found: (readonly string[])[] = [];
  let dangerous = false;
  let words = 0;
  let nested = 0;
  const waiting = commands.map((command) => ({ command, depth: 0 }));
  const incomplete = () => ({ dangerous: true, found, isComplete: false });
  for (let nth = 0; nth < waiting.length; nth++) {
    const { command, depth } = waiting[nth]!;
    words += command.words.length;
    if (words > MAX_WORDS) return incomplete();
    const prefix = literalPrefix(command.words);
    if (prefix.length > 0) found.push(prefix);
    dangerous ||= isRemoval(command.words);
    for (const at of startsIn(command.words)) {
      const inner = command.words.slice(at);
      words += inner.length;
      if (depth >= MAX_DEPTH || words > MAX_WORDS) return incomplete();
      if (APPENDING.has(baseName(command.words[0]!))) inner.push(null);
      waiting.push({ command: { ...command, words: inner }, depth: depth + 1 });
    }
    for (const text of textsIn(command)) {
      if (text === null) {
        dangerous = true;
        continue;
      }
      if (text.trim() === "") continue;
      nested += text.length;
      if (depth >= MAX_DEPTH || nested > MAX_NESTED) return incomplete();
      const inner = read(text);
      if (inner === null) return incomplete();
      for (const one of inner) waiting.push({ command: one, depth: depth + 1 });
    }
  }
  return { dangerous, found, isComplete: true };
}

function literalPrefix(words: readonly (string | null)[]): readonly string[] {
  const end = words.indexOf(null);
  return (end < 0 ? words : words.slice(0, end)) as readonly string[];
}

/** The shell texts that a command runs, as far as its words show them; null for a text that is not known. */
function textsIn({ words, input, isPiped }: FoundCommand): readonly (string | null)[] {
  const [first, ...args] = words;
  if (first === null || first === undefined) return [];
  const name = baseName(first);
  const piped = isPiped ? null : "";
  if (SHELLS.has(name)) return shellTexts(args, input, piped);
  if (name === "." || name === "source") return args[0] != null && PIPE.test(args[0]) ? [input || null] : [];
  // The input of all commands that follow.
  if (name === "exec" && input.trim() !== "") return [null];
  if (name === "eval") return [args.includes(null) ? null : literals(args).join(" ")];
  if (name === "trap") return args.slice(0, 1);
  if (name === "alias") return args.map((arg) => arg?.slice(arg.indexOf("=") + 1) ?? null);
  if (!TAKE_SHELL_TEXT.has(name)) return [];
  return literals(args)
    .filter((arg) => /\s/.test(arg))
    .map(optionValue);
}

/** The texts that a shell runs: those after `-c`, else its input if it names no script. Scripts are not read. */
function shellTexts(
  args: readonly (string | null)[],
  input: string,
  piped: string | null,
): readonly (string | null)[] {
  const option = args.findIndex((arg) => arg !== null && /^(-[a-zA-Z]*[cC]|--(init-)?command)/.test(arg));
  if (option >= 0) {
    const given = /^--[a-z-]+=/.test(args[option]!) ? [optionValue(args[option]!)] : [];
    const text = args.slice(option + 1).find((arg) => arg === null || !/^[-+]/.test(arg));
    return [...given, ...(text === undefined && given.length > 0 ? [] : [text ?? null])];
  }
  const script = args.find((arg) => arg === null || !/^[-+]/.test(arg));
  if (script === null) return [null];
  if (script !== undefined && !PIPE.test(script) && !args.some((arg) => /^-[a-zA-Z]*s/.test(arg ?? "")))
    return [];
  return [input.trim() === "" ? (script !== undefined && PIPE.test(script) ? null : piped) : input];
}

/** A script that is no file of its own: the input, or what another command writes. */
const PIPE = /^\/(dev|proc)\//;

/**
 * The positions in a wrapper's words where a command may begin. It is unknown which options have values, so the
 * first few operands count, and every word that names `rm`, a shell or another wrapper.
 */
function startsIn(words: readonly (string | null)[]): readonly number[] {
  const name = baseName(words[0] ?? "");
  if (!WRAPPERS.has(name)) return [];
  const isFind = /^(find|fd|fdfind)$/.test(name);
  const starts: number[] = [];
  let operands = 0;
  for (const [at, word] of words.entries()) {
    if (at === 0 || word?.startsWith("-") || /^\w+=/.test(word ?? "")) continue;
    const isFirst = isFind
      ? EXEC_OPTION.test(words[at - 1] ?? "")
      : ++operands <= (word === null ? 1 : MAX_OPERANDS);
    if (isFirst || (word !== null && isWrapperOrRemoval(word))) starts.push(at);
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
  return (
    /^(rm|eval|trap|alias)$/.test(name) || WRAPPERS.has(name) || SHELLS.has(name) || TAKE_SHELL_TEXT.has(name)
  );
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}

function isRemoval(words: readonly (string | null)[]): boolean {
  const [first, ...args] = words;
  if (first === undefined) return false;
  // The name is known only when the shell runs.
  if (first === null) return true;
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
    (arg) => arg === null || /^-[^-]*[rRf]/.test(arg) || /^--(r|f)/.test(arg),
  );
}
