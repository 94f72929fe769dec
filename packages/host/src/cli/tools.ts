import type { Command } from "commander";

export function addTools(bobbin: Command): void {
  bobbin
    .command("tools")
    .description("Show the configured tool servers: their tools, their health, their pending calls.")
    .option("--json", "print them as JSON")
    .addHelpText("after", NOTES)
    .action(async (options: { json?: boolean }, self: Command) => {
      const { tools } = await import("./run-tools.ts");
      process.exitCode = await tools({ ...options, config: self.optsWithGlobals().config });
    });
}

const NOTES = `
Asks each server for its toolset. Calls and subscriptions are those of all hosts that share this home.
Exit code: 0 when every server and every tool can be used, 1 otherwise.

Examples:
  bobbin tools
  bobbin tools --json | jq '.[].tools[].name'
  bobbin tools -c rap_servers.desk.url=http://127.0.0.1:8080     try a server that is not configured
`;
