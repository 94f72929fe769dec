import { Argument, type Command } from "commander";

const SHELLS = ["bash", "zsh", "fish"] as const;

export function addCompletion(bobbin: Command): void {
  bobbin
    .command("completion")
    .description("Print a script that lets your shell complete commands, options and their values.")
    .addArgument(new Argument("<shell>", "the shell to print it for").choices(SHELLS))
    .addHelpText("after", NOTES)
    .action(async (shell: (typeof SHELLS)[number]) => {
      const { printCompletion } = await import("./completion.ts");
      await printCompletion(bobbin, shell);
    });
}

const NOTES = `
To install it:
  bash   mkdir -p ~/.local/share/bash-completion/completions
         bobbin completion bash > \\
           ~/.local/share/bash-completion/completions/bobbin
         (needs the package bash-completion; without it, put
         source <(bobbin completion bash) into ~/.bashrc)
  zsh    mkdir -p ~/.zfunc && bobbin completion zsh > ~/.zfunc/_bobbin
         and in ~/.zshrc, before compinit: fpath+=~/.zfunc
  fish   bobbin completion fish > ~/.config/fish/completions/bobbin.fish
Then open a new shell.

Examples:
  source <(bobbin completion bash)                   for this shell only
`;
