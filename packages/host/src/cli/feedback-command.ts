import type { Command } from "commander";

export interface FeedbackOptions {
  readonly classification: string;
  readonly reason?: string;
  readonly thread?: string;
  readonly logs: boolean;
  readonly file?: readonly string[];
  readonly output?: string;
  readonly json?: boolean;
}

export function addFeedback(bobbin: Command): void {
  bobbin
    .command("feedback")
    .description("Create a problem report: a ZIP file with secrets removed.")
    .option("-r, --reason <text>", "what happened, and what you expected")
    .option("--classification <kind>", "kind of report: bug, bad_result, good_result, other", "bug")
    .option("-t, --thread <id>", "a thread whose journal is added to the report")
    .option("--no-logs", "leave out the log and the thread's journal")
    .option("-f, --file <path>", "add this file; repeat for several", (path: string, all?: string[]) => [
      ...(all ?? []),
      path,
    ])
    .option("-o, --output <path>", "write the report to this new file, and do not send it")
    .option("--json", "print the result as JSON")
    .addHelpText("after", NOTES)
    .action(async (options: FeedbackOptions, self: Command) => {
      const { makeFeedback } = await import("./feedback.ts");
      process.exitCode = await makeFeedback(options, self.optsWithGlobals().config);
    });
}

const NOTES = `
The report is written to the home's feedback folder. If config.toml has an
endpoint in [feedback], it is also sent there. Keys, tokens and passwords are
replaced by [redacted]. Check the file before you pass it on.

Examples:
  bobbin feedback -r "The turn never ended" \\
    -t 01a1e11e-8538-703d-834a-e6eb57dc6a9a
  bobbin feedback -r "It does not start" -f build.log -o report.zip
`;
