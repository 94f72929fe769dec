import type { Command } from "commander";

export function addDoctor(bobbin: Command): void {
  bobbin.command("doctor");
}
