import { allNodes, type CompletionNode, type CompletionValue } from "./completion-tree.ts";

/** Generates the completion script for bash 3.2 or newer. The script does not need the bash-completion package. */
export function bashCompletion(root: CompletionNode): string {
  const nodes = allNodes(root);
  const name = root.path[0]!;
  const descents = nodes.slice(1).map(({ path }) => `      ${quoted(path)}) path=${quoted(path)} ;;`);
  const valued = nodes.flatMap((node) =>
    node.options.flatMap(({ names, value }) =>
      value ? names.map((flag) => ({ at: `${node.path.join(" ")} ${flag}`, value })) : [],
    ),
  );
  const values = valued.map(({ at, value }) => `    ${quoted([at])}) ${offer(value)}; return ;;`);
  const words = nodes.flatMap((node) => [
    `    ${quoted(node.path)})`,
    `      flags=${quoted(node.options.flatMap(({ names }) => names))}`,
    `      words=${quoted([...node.commands.map(({ path }) => path.at(-1)!), ...(node.argument?.choices ?? [])])}`,
    "      ;;",
  ]);
  return `# bash completion for ${name}; printed by: ${name} completion bash
_${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  local path=${quoted([name])} flags="" words="" at
  COMPREPLY=()

  # bash makes words of the three parts of --option=value.
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $previous == "=" ]]; then
    previous="\${COMP_WORDS[COMP_CWORD - 2]}"
  fi

  for ((at = 1; at < COMP_CWORD; at++)); do
    case "$path \${COMP_WORDS[at]}" in
${descents.join("\n")}
    esac
  done

  case "$path $previous" in
${values.join("\n")}
  esac

  case "$path" in
${words.join("\n")}
  esac
  [[ $current == -* ]] && words="$flags"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${name} ${name}
`;
}

/** Shell code that completes one value. For files it offers nothing, so that `-o default` completes file names. */
function offer({ kind, choices }: CompletionValue): string {
  switch (kind) {
    case "choice":
      return `COMPREPLY=($(compgen -W ${quoted(choices)} -- "$current"))`;
    case "folder":
      return "compopt -o dirnames +o default 2>/dev/null";
    case "file":
      return "COMPREPLY=()";
    case "text":
      return "compopt +o default 2>/dev/null";
  }
}

function quoted(words: readonly string[]): string {
  return `"${words.join(" ").replace(/["$`\\]/g, "\\$&")}"`;
}
