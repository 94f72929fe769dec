import { type Command, Option } from "commander";
import { repeatableOption } from "./repeatable-option.ts";

export function addSandbox(bobbin: Command): void {
  bobbin
    .command("sandbox")
    .description("Run a command in the sandbox that is used for a model's commands.")
    .argument("[command...]", "the command and its arguments, after --")
    .option(
      "--explain",
      "show what the command may read, write and connect to; without a command, run nothing",
    )
    .addOption(
      new Option("--read-only", "allow no writes, whatever is configured").conflicts("workspaceWrite"),
    )
    .option("--workspace-write", "allow writes to the current folder and to temporary folders")
    .addOption(
      repeatableOption(
        "--add-dir <dir>",
        "with --workspace-write, also allow writes to this folder; repeat for several",
      ),
    )
    .option("--network", "allow network access")
    .option("--git", "treat it as a plain git command, which may write to .git")
    .option("-C, --cd <dir>", "the folder to run it in (default: the current folder)")
    .addHelpText("after", NOTES)
    .action(async (words: string[], options, self: Command) => {
      const { sandbox } = await import("./sandbox.ts");
      const config = self.optsWithGlobals().config;
      process.exitCode = await sandbox({ ...options, words, config }, (problem) =>
        self.error(`error: ${problem}`),
      );
    });
}

const NOTES = `
Without flags, the configured sandbox is used: sandbox_mode or
default_permissions in config.toml, or workspace-write in a folder for which
[projects] has a trust_level.

Exit code: that of the command; 128 plus the signal's number if a signal ended
it; 126 if this machine has no sandbox; 127 if the command could not be started.

Examples:
  bobbin sandbox -- ls -la
  bobbin sandbox --workspace-write -- npm test
  bobbin sandbox --workspace-write --explain         show what a command may do
`;
