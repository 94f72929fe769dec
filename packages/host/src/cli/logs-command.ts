import { type Command, Option } from "commander";
import type { LogsOptions } from "./logs.ts";
import { wholeNumber } from "./whole-number.ts";

export function addLogs(bobbin: Command): void {
  bobbin
    .command("logs")
    .description("Show the last log lines of the running host.")
    .option("-f, --follow", "go on with new lines until Ctrl-C, also when the host restarts")
    .addOption(
      new Option("--level <level>", "the lowest level to show")
        .choices(["info", "warn", "error"])
        .default("info"),
    )
    .option("-n, --limit <count>", "how many of the last lines to show", wholeNumber(0), 50)
    .option("--json", "print a JSON object per line")
    .addHelpText("after", NOTES)
    .action(async (options: LogsOptions) => {
      const { logs } = await import("./logs.ts");
      process.exitCode = await logs(options);
    });
}

const NOTES = `
Asks every host of this home (see bobbin --help) that listens on a
socket. If there are several, each line has the id of its host's process. A host
keeps about its last 512 kB of lines in memory, so the lines of a host that has
ended are gone: for those, keep its stderr. Times are in UTC. Keys, tokens and
other secrets are shown as [redacted].

Exit code: 0, or 1 if no host runs.

Examples:
  bobbin logs --level error                 what went wrong
  bobbin logs --follow -n 0                 only what comes from now on
  bobbin logs --json | jq -r .message
`;
