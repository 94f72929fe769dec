import { type Command, Option } from "commander";
import { repeatableOption } from "./repeatable-option.ts";

export interface ImportOptions {
  readonly from?: "codex" | "claude";
  readonly dryRun?: boolean;
  readonly cwd?: readonly string[];
  readonly json?: boolean;
}

export function addImport(bobbin: Command): void {
  bobbin
    .command("import")
    .description("Import settings, instructions, skills and sessions from the Codex CLI and Claude Code.")
    .addOption(
      new Option("--from <agent>", "import from this agent only (default: both)").choices([
        "codex",
        "claude",
      ]),
    )
    .option("-n, --dry-run", "show what would be imported, and change nothing")
    .addOption(
      repeatableOption(
        "-C, --cwd <dir>",
        "also import from the repository of this folder; repeat for several",
      ),
    )
    .option("--json", "print the result as JSON")
    .addHelpText("after", NOTES)
    .action(async (options: ImportOptions, self: Command) => {
      const { runImport } = await import("./import.ts");
      process.exitCode = await runImport(options, self.optsWithGlobals().config);
    });
}

const NOTES = `
Existing settings and files are never overwritten, and the homes of the other
agents are not changed. A second import does nothing. Sessions become threads. A
file that cannot be read is reported and skipped.

Examples:
  bobbin import --dry-run
  bobbin import --from claude -C ~/code/shop
`;
