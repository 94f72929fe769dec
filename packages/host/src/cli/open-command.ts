import type { Command } from "commander";

export function addOpen(bobbin: Command): void {
  bobbin
    .command("open")
    .description("Open the console of the running host in a browser.")
    .option("--print", "print the link instead")
    .addHelpText("after", NOTES)
    .action(async (options: { print?: boolean }) => {
      const { openConsole } = await import("./open-console.ts");
      process.exitCode = await openConsole(options);
    });
}

const NOTES = `
The host is the one that runs on this home (see bobbin --help). If it
requires a token, the link has one of its own that works once, within ten
minutes. Other users of this machine can see the link among the arguments of the
browser's process: if you do not trust them, use --print and paste it.

Exit code: 0 if a browser was started or the link was printed, 1 if no host runs
that has an address for browsers.
`;
