import type { Command, Option } from "commander";

/**
 * Moves options of a turn that stand before the command behind it: `-C DIR exec …` becomes `exec -C DIR …`. The Codex
 * CLI takes them in both places.
 */
export function optionsAfterCommand(bobbin: Command, argv: readonly string[]): readonly string[] {
  const exec = bobbin.commands.find((command) => command.name() === "exec")!;
  const kept: string[] = [];
  const moved: string[] = [];
  let at = 0;
  for (let arg = argv[at]; arg?.startsWith("-"); arg = argv[at]) {
    const own = optionOf(bobbin, arg);
    const option = own ?? optionOf(exec, arg);
    // The parser explains what is wrong.
    if (option === undefined) return argv;
    const end = at + (takesNext(option, arg) ? 2 : 1);
    (own === undefined ? moved : kept).push(...argv.slice(at, end));
    at = end;
  }
  const command = argv[at];
  if (command === undefined || !["exec", "e", "chat"].includes(command)) return argv;
  return [...kept, command, ...moved, ...argv.slice(at + 1)];
}

function optionOf(command: Command, arg: string): Option | undefined {
  const name = arg.startsWith("--") ? arg.replace(/=.*/s, "") : arg.slice(0, 2);
  return command.options.find(({ short, long }) => name === short || name === long);
}

/** Whether the next argument is the option's value: it is not part of this one, as in `--cd=DIR` or `-CDIR`. */
function takesNext(option: Option, arg: string): boolean {
  if (!option.required) return false;
  return arg.startsWith("--") ? !arg.includes("=") : arg.length === 2;
}
