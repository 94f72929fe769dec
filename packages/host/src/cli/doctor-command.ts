import type { Command } from "commander";

export function addDoctor(bobbin: Command): void {
  bobbin
    .command("doctor")
    .description("Check whether Bobbin can run on this machine, and advise on what does not work.")
    .option("--json", "print the findings as JSON")
    .addHelpText("after", NOTES)
    .action(async (options: { json?: boolean }, self: Command) => {
      const { doctor } = await import("./doctor.ts");
      process.exitCode = await doctor({ ...options, config: self.optsWithGlobals().config });
    });
}

const NOTES = `
The command changes nothing.

Exit code: 0 if everything that a host needs works, with or without warnings;
otherwise 1.

Examples:
  bobbin doctor
  bobbin doctor -c model_provider=offline             check with another setting
  bobbin doctor --json | jq '.checks[] | select(.status != "ok")'
`;
