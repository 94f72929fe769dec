import type { Command } from "commander";
import { expect, it } from "vitest";
import { program } from "./command-line.ts";

/** A command and everything below it. */
function withSubcommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({
    writeOut: (piece) => {
      text += piece;
    },
    getOutHelpWidth: () => 80,
  });
  command.outputHelp();
  return text;
}

it("shows help that fits a terminal of 80 columns", () => {
  const commands = withSubcommands(program());
  const wide = commands.flatMap((command) =>
    helpOf(command)
      .split("\n")
      .filter((line) => line.length > 80)
      .map((line) => `${command.name()}: ${line}`),
  );
  expect(commands.length).toBeGreaterThan(50);
  expect(wide).toEqual([]);
});
