import { type Command, Option } from "commander";

export function addSandbox(bobbin: Command): void {
  bobbin
    .command("sandbox")
    .description("Run a command in the sandbox that commands of models run in.")
    .argument("[command...]", "the command and its arguments, after --")
    .option("--explain", "show what the command may read, write and reach; without a command nothing is run")
    .addOption(
      new Option("--read-only", "let it write nothing, whatever is configured").conflicts("workspaceWrite"),
    )
    .option("--workspace-write", "let it write to the current folder and to temporary folders")
    .addOption(repeated("--add-dir <dir>", "let it write to this folder as well, with --workspace-write"))
    .option("--network", "let it use the network")
    .option("--git", "treat it as plain git commands: let it change the repository")
    .option("-C, --cd <dir>", "the folder to run it in, instead of the current one")
    .addHelpText("after", NOTES)
    .action(async (words: string[], options, self: Command) => {
      const { sandbox } = await import("./run-sandbox.ts");
      const config = self.optsWithGlobals().config;
      process.exitCode = await sandbox({ ...options, words, config }, (problem) =>
        self.error(`error: ${problem}`),
      );
    });
}

function repeated(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, all: string[] | undefined) => [
    ...(all ?? []),
    value,
  ]);
}

const NOTES = `
Without flags the sandbox is the configured one: sandbox_mode or default_permissions in config.toml,
or workspace-write in a folder for which [projects] has a trust_level.

Exit code: that of the command, 128 and the signal's number if a signal ended it,
126 when this machine has no sandbox.

Examples:
  bobbin sandbox -- ls -la
  bobbin sandbox --workspace-write -- npm test
  bobbin sandbox --workspace-write --explain         what it may do, without running anything
`;
