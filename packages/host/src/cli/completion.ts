import type { Command } from "commander";

export function addCompletion(bobbin: Command): void {
  bobbin.command("completion");
}
