import type { Command } from "commander";
import { bashCompletion } from "./completion-bash.ts";
import { fishCompletion } from "./completion-fish.ts";
import { completionTree } from "./completion-tree.ts";
import { zshCompletion } from "./completion-zsh.ts";
import { Output } from "./terminal-output.ts";

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export async function printCompletion(program: Command, shell: keyof typeof scripts): Promise<void> {
  const stdout = new Output(process.stdout);
  stdout.write(scripts[shell](completionTree(program)));
  await stdout.flushed();
}
