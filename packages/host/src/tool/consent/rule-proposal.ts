import { NO_RULES, type PrefixRule, type Rules, ruleFor } from "./command-and-network-rules.ts";
import type { ParsedCommand } from "./parse-command.ts";

const list = (names: string): ReadonlySet<string> => new Set(names.trim().split(/\s+/));

/**
 * Programs for which no rule is ever offered: removals, programs that run as other users, and programs that run the
 * command in their arguments.
 */
const NEVER_OFFERED = list(`
  rm sudo doas su pkexec runuser env xargs parallel find fd fdfind command builtin exec eval source . nohup nice ionice
  chrt taskset time timeout gtimeout setsid stdbuf unbuffer script strace ltrace gdb watch entr flock chroot unshare
  nsenter setpriv bwrap systemd-run busybox toybox ssh tmux screen caffeinate trap`);
/** Shells and interpreters. A rule must include the script or the code. */
const INTERPRETERS = list(`
  sh bash zsh dash ksh mksh ash fish rbash pwsh powershell cmd python python2 python3 pypy pypy3 py pyw pythonw node nodejs
  ruby irb perl php lua luajit julia Rscript R osascript tclsh guile groovy java jshell awk gawk mawk sed expect`);
/** Programs with subcommands. A rule must include the subcommand. */
const SUBCOMMAND_PROGRAMS = list(`
  git npm npx pnpm pnpx yarn yarnpkg bun bunx deno uv uvx pipx poetry cargo go mvn gradle gradlew hatch tox nox conda dotnet
  docker podman kubectl make ninja just task rake gh brew apt apt-get dnf pip pip3`);
/** Options that are followed by code. */
const CODE = /^(-[a-zA-Z]*[cem]|-r|-p|--eval|--print|\/c|-Command)$/;
/** Subcommands that are followed by the name of a program or a script. */
const RUN = /^(run|run-script|exec|x|dlx|eval|start|tool|compose)$/;

/** Whether a command prefix may become an allow rule. False if the prefix would allow any program to run. */
export function mayBecomeRule(prefix: readonly string[]): boolean {
  const [program, second, third] = prefix;
  if (program === undefined || program === "") return false;
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (NEVER_OFFERED.has(name)) return false;
  if (INTERPRETERS.has(name)) return isOperand(second) || (CODE.test(second ?? "") && isOperand(third));
  if (SUBCOMMAND_PROGRAMS.has(name)) return isOperand(second) && (!RUN.test(second!) || isOperand(third));
  return true;
}

function isOperand(word: string | undefined): boolean {
  return word !== undefined && word !== "" && !word.startsWith("-");
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
