import { NO_RULES, type PrefixRule, type Rules, ruleFor } from "./command-and-network-rules.ts";
import type { ParsedCommand } from "./parse-command.ts";
import { READERS } from "./read-only-commands.ts";

/**
 * Whether a command prefix may become an allow rule by an answer. A rule counts in all folders, outside of the sandbox
 * and with any words after the prefix, so only programs are listed that run no other program and write no file then.
 * A program that is not listed, or is named by its path, may be anything; git runs programs that the repository of the
 * working folder names, and a model may have made that. People can write any rule into a file.
 */
export function mayBecomeRule([program = ""]: readonly string[]): boolean {
  return READERS.has(program);
}

/**
 * The command prefix to offer as a rule when the user is asked about a command; null if none may be offered. With the
 * rule, the same command needs no approval.
 */
export function amendmentFor(
  { words, isDangerous }: ParsedCommand,
  suggested: readonly string[] | null,
  rules: Rules,
): readonly string[] | null {
  if (words === null || isDangerous) return null;
  const unallowed = words.filter((one) => ruleFor(rules, one)?.decision !== "allow");
  const fits = (prefix: readonly string[]): boolean =>
    mayBecomeRule(prefix) && unallowed.every((one) => ruleFor(allowing(prefix), one) !== null);
  return [suggested, unallowed[0]].find((prefix) => prefix != null && fits(prefix)) ?? null;
}

function allowing(prefix: readonly string[]): Rules {
  const pattern = prefix.map((word) => [word]);
  const rule: PrefixRule = {
    pattern,
    decision: "allow",
    justification: null,
    origin: { file: "", line: 0 },
  };
  return { ...NO_RULES, prefixes: [rule] };
}
