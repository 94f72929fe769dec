import {
  allNodes,
  type CompletionNode,
  type CompletionOption,
  type CompletionValue,
} from "./completion-tree.ts";

/** Generates the completion script for fish: one `complete` line per command, option or argument. */
export function fishCompletion(root: CompletionNode): string {
  const name = root.path[0]!;
  const lines = allNodes(root).flatMap((node) => {
    const offer = (rest: string) => `complete -c ${name} -n ${quoted(condition(node))} ${rest}`;
    return [
      ...node.commands.map((below) =>
        offer(`-f -a ${quoted(below.path.at(-1)!)} -d ${quoted(below.description)}`),
      ),
      ...node.options.map((option) => offer(optionFlags(option))),
      ...(node.argument ? [offer(valueFlags(node.argument))] : []),
    ];
  });
  return `# fish completion for ${name}; printed by: ${name} completion fish
complete -c ${name} -f
${lines.join("\n")}
`;
}

/** Fish condition that holds if the command line so far names this command and none of its subcommands. */
function condition({ path, commands }: CompletionNode): string {
  const below = commands.map((one) => one.path.at(-1)!);
  const none = below.length > 0 ? [`not __fish_seen_subcommand_from ${below.join(" ")}`] : [];
  const seen = path.slice(1).map((word) => `__fish_seen_subcommand_from ${word}`);
  return [...seen, ...none].join("; and ");
}

function optionFlags({ names, description, value }: CompletionOption): string {
  const flags = names.map((one) => (one.startsWith("--") ? `-l ${one.slice(2)}` : `-s ${one.slice(1)}`));
  const takes = value ? ` -r ${valueFlags(value)}` : "";
  return `${flags.join(" ")}${takes} -d ${quoted(description)}`;
}

function valueFlags({ kind, choices }: CompletionValue): string {
  switch (kind) {
    case "choice":
      return `-f -a ${quoted(choices.join(" "))}`;
    case "folder":
      return "-f -a '(__fish_complete_directories)'";
    case "file":
      return "-F";
    case "text":
      return "-f";
  }
}

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, "\\$&")}'`;
}
