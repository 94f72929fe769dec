import type { Argument, Command, Option } from "commander";

/** One command with what a shell can complete for it: the subcommands, options and argument that its help shows. */
export interface CompletionNode {
  /** The words of the command, for example `bobbin app-server generate-ts`. */
  readonly path: readonly string[];
  readonly description: string;
  readonly commands: readonly CompletionNode[];
  readonly options: readonly CompletionOption[];
  readonly argument: CompletionValue | undefined;
}

export interface CompletionOption {
  /** For example `-m` and `--model`. */
  readonly names: readonly string[];
  readonly description: string;
  readonly value: CompletionValue | undefined;
  readonly repeatable: boolean;
}

export interface CompletionValue {
  readonly name: string;
  readonly choices: readonly string[];
  readonly kind: "choice" | "file" | "folder" | "text";
}

/** Reads all commands from commander's definitions, so that the completions cannot differ from the program. */
export function completionTree(program: Command): CompletionNode {
  return node(program, [program.name()], []);
}

function node(
  command: Command,
  path: readonly string[],
  inherited: readonly CompletionOption[],
): CompletionNode {
  const help = command.createHelp();
  const below = help.visibleCommands(command);
  const own = help.visibleOptions(command).map(option);
  const has = new Set(own.flatMap(({ names }) => names));
  const options = [...own, ...inherited.filter(({ names }) => !names.some((name) => has.has(name)))];
  // The options of `bobbin` itself may also stand after a command, except --help and --version.
  const shared =
    path.length > 1
      ? inherited
      : own.filter(({ names }) => !names.includes("--help") && !names.includes("--version"));
  const real = below.filter((one) => command.commands.includes(one));
  const commands = below.map((one) => {
    const at = [...path, one.name()];
    // Commander's own `help` takes the name of another command.
    return real.includes(one) ? node(one, at, shared) : helpNode(one, at, real);
  });
  const [argument] = command.registeredArguments;
  return {
    path,
    description: command.description(),
    commands,
    options,
    argument: argument && value(argument.name(), argument),
  };
}

function helpNode(help: Command, path: readonly string[], others: readonly Command[]): CompletionNode {
  const choices = others.map((one) => one.name());
  const argument = { name: "command", choices, kind: "choice" } as const;
  return { path, description: help.description(), commands: [], options: [], argument };
}

function option(option: Option): CompletionOption {
  const { short, long, description, flags } = option;
  const name = /[<[]([^>\]]+)[>\]]/.exec(flags)?.[1];
  return {
    names: [short, long].filter((one) => one != null),
    description,
    value: name === undefined ? undefined : value(name, option),
    repeatable: option.variadic || (option.parseArg !== undefined && option.argChoices === undefined),
  };
}

function value(name: string, { argChoices }: Pick<Option | Argument, "argChoices">): CompletionValue {
  const choices = argChoices ?? [];
  if (choices.length > 0) return { name, choices, kind: "choice" };
  const kind = /^(dir|folder)$/.test(name) ? "folder" : /^(file|path)$/.test(name) ? "file" : "text";
  return { name, choices, kind };
}

/** A command with all its subcommands, at any depth. */
export function allNodes(node: CompletionNode): readonly CompletionNode[] {
  return [node, ...node.commands.flatMap(allNodes)];
}
