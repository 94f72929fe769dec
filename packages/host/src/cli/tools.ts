import type { Command } from "commander";

export function addTools(bobbin: Command): void {
  bobbin
    .command("tools")
    .description("Show the tool servers that are configured: tools, health, and what is under way at them.")
    .option("--json", "print them as JSON")
    .addHelpText("after", NOTES)
    .action(async (options: { json?: boolean }, self: Command) => {
      const { tools } = await import("./run-tools.ts");
      process.exitCode = await tools({ ...options, config: self.optsWithGlobals().config });
    });
}

const NOTES = `
Each server is asked for its toolset. Calls and subscriptions are those of all hosts on this home.
Exit code: 0 when every server, and each of its tools, can be used; 1 otherwise.

Examples:
  bobbin tools
  bobbin tools --json | jq '.[].tools[].name'
  bobbin tools -c rap_servers.desk.url=http://127.0.0.1:8080     one that is not configured yet
`;
