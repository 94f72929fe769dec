import {
  allNodes,
  type CompletionNode,
  type CompletionOption,
  type CompletionValue,
} from "./completion-tree.ts";

/** Generates the completion script for zsh: one function per command. */
export function zshCompletion(root: CompletionNode): string {
  const name = root.path[0]!;
  const functions = allNodes(root).map((node) => {
    const specs = node.options.flatMap(optionSpecs);
    return node.commands.length > 0 ? branch(node, specs) : leaf(node, specs);
  });
  return `#compdef ${name}
# zsh completion for ${name}; printed by: ${name} completion zsh

${functions.join("\n\n")}

if [ "$funcstack[1]" = "_${name}" ]; then
  _${name} "$@"
else
  compdef _${name} ${name}
fi
`;
}

function branch(node: CompletionNode, specs: readonly string[]): string {
  const described = node.commands.map(
    ({ path, description }) => `    ${quoted(`${colons(path.at(-1)!)}:${description}`)}`,
  );
  const cases = node.commands.map((below) => `        ${below.path.at(-1)}) ${functionName(below)} ;;`);
  return `${functionName(node)}() {
  local context state state_descr line curcontext="$curcontext"
  typeset -A opt_args
  local -a commands
  commands=(
${described.join("\n")}
  )
  _arguments -C \\
${specs.map((spec) => `    ${spec} \\\n`).join("")}    '1: :->command' \\
    '*:: :->rest'
  case $state in
    command) _describe -t commands command commands ;;
    rest)
      case $words[1] in
${cases.join("\n")}
      esac
      ;;
  esac
}`;
}

function leaf(node: CompletionNode, specs: readonly string[]): string {
  const { argument } = node;
  const all = argument ? [...specs, quoted(`*:${colons(argument.name)}:${action(argument)}`)] : specs;
  return `${functionName(node)}() {
  _arguments${all.map((spec) => ` \\\n    ${spec}`).join("")}
}`;
}

function optionSpecs({ names, description, value, repeatable }: CompletionOption): string[] {
  const once = repeatable ? "*" : names.length > 1 ? `(${names.join(" ")})` : "";
  const says = `[${description.replace(/[[\]\\]/g, "\\$&").replaceAll(":", "\\:")}]`;
  return names.map((name) => {
    const takes = value ? `:${colons(value.name)}:${action(value)}` : "";
    // zsh completes both `--name=value` and `--name value` for this form.
    const form = value && name.startsWith("--") ? `${name}=` : name;
    return quoted(`${once}${form}${says}${takes}`);
  });
}

function action({ kind, choices }: CompletionValue): string {
  switch (kind) {
    case "choice":
      return `(${choices.join(" ")})`;
    case "folder":
      return "_files -/";
    case "file":
      return "_files";
    case "text":
      return " ";
  }
}

function functionName({ path }: CompletionNode): string {
  return `_${path.join("_").replaceAll("-", "_")}`;
}

function colons(text: string): string {
  return text.replaceAll(":", "\\:");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
