import { NO_RULES, type PrefixRule, type Rules, ruleFor } from "./rules.ts";
import type { ParsedCommand } from "./shell.ts";

const list = (names: string): ReadonlySet<string> => new Set(names.trim().split(/\s+/));

/** Removals, other users' rights, and programs that run the command in their arguments. */
const NEVER = list(`
  rm sudo doas su pkexec runuser env xargs parallel find fd fdfind command builtin exec eval source . nohup nice ionice
  chrt taskset time timeout gtimeout setsid stdbuf unbuffer script strace ltrace gdb watch entr flock chroot unshare
  nsenter setpriv bwrap systemd-run busybox toybox ssh tmux screen caffeinate trap`);
/** Shells and interpreters: a rule needs the script, or the code, as well. */
const INTERPRETERS = list(`
  sh bash zsh dash ksh mksh ash fish rbash pwsh powershell cmd python python2 python3 pypy pypy3 py pyw pythonw node nodejs
  ruby irb perl php lua luajit julia Rscript R osascript tclsh guile groovy java jshell awk gawk mawk sed expect`);
/** Programs of many commands: a rule needs the command as well. */
const COMMANDERS = list(`
  git npm npx pnpm pnpx yarn yarnpkg bun bunx deno uv uvx pipx poetry cargo go mvn gradle gradlew hatch tox nox conda dotnet
  docker podman kubectl make ninja just task rake gh brew apt apt-get dnf pip pip3`);
/** Options after which code follows. */
const CODE = /^(-[a-zA-Z]*[cem]|-r|-p|--eval|--print|\/c|-Command)$/;
/** Commands after which the name of a program or script follows. */
const RUN = /^(run|run-script|exec|x|dlx|eval|start|tool|compose)$/;

/** Whether a prefix may become a rule: never one that would allow any program. */
export function mayBecomeRule(prefix: readonly string[]): boolean {
  const [program, second, third] = prefix;
  if (program === undefined || program === "") return false;
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (NEVER.has(name)) return false;
  if (INTERPRETERS.has(name)) return isOperand(second) || (CODE.test(second ?? "") && isOperand(third));
  if (COMMANDERS.has(name)) return isOperand(second) && (!RUN.test(second!) || isOperand(third));
  return true;
}

function isOperand(word: string | undefined): boolean {
  return word !== undefined && word !== "" && !word.startsWith("-");
}

/** The prefix to offer for a command that is asked about: with it, the same command would not be asked about again. */
export function amendmentFor(
  { words, isDangerous }: ParsedCommand,
  suggested: readonly string[] | null,
  rules: Rules,
): readonly string[] | null {
  if (words === null || isDangerous) return null;
  const asked = words.filter((one) => ruleFor(rules, one)?.decision !== "allow");
  const fits = (prefix: readonly string[]): boolean =>
    mayBecomeRule(prefix) && asked.every((one) => ruleFor(allowing(prefix), one) !== null);
  return [suggested, asked[0]].find((prefix) => prefix != null && fits(prefix)) ?? null;
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
