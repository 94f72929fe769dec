import type { Command } from "commander";

export function addExec(bobbin: Command): void {
  bobbin.command("exec");
}
