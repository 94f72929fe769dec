import type { Command } from "commander";

export function addDoctor(bobbin: Command): void {
  bobbin
    .command("doctor")
    .description("Check what works on this machine, and say what to do about the rest.")
    .option("--json", "print the findings as JSON")
    .addHelpText("after", NOTES)
    .action(async (options: { json?: boolean }, self: Command) => {
      const { doctor } = await import("./run-doctor.ts");
      process.exitCode = await doctor({ ...options, config: self.optsWithGlobals().config });
    });
}

const NOTES = `
Exit code: 0 when everything that is needed works, with or without warnings; 1 otherwise.
The command changes nothing, and no check takes longer than three seconds.

Examples:
  bobbin doctor
  bobbin doctor -c model_provider=offline             check another setting
  bobbin doctor --json | jq '.checks[] | select(.status != "ok")'
`;
