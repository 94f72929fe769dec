import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { messageOf } from "../errors.ts";
import type { ToolCallOptions } from "./tools-call.ts";
import { wholeNumber } from "./whole-number.ts";

export function addTools(bobbin: Command): void {
  const tools = bobbin
    .command("tools")
    .description("Show the configured tool servers with their tools, or call a tool.")
    .option("--json", "print them as JSON")
    .addHelpText("after", NOTES)
    .action(async (options: { json?: boolean }, self: Command) => {
      const { tools } = await import("./tools.ts");
      process.exitCode = await tools({ ...options, config: self.optsWithGlobals().config });
    });
  tools
    .command("call")
    .description("Call a tool of an MCP server or of a tool server, and print its result.")
    .argument("<server.tool>", "the name of the server, a dot, and the name of the tool")
    .argument("[arguments]", "a JSON object; - reads it from stdin", "{}")
    .option("--timeout <seconds>", "how long to wait for the result", wholeNumber(1), 120)
    .option("--json", "print the whole result as JSON")
    .addHelpText("after", CALL_NOTES)
    .action(async (name: string, given: string, options: ToolCallOptions, self: Command) => {
      const { callTool } = await import("./tools-call.ts");
      const { config, json } = self.optsWithGlobals();
      const args = parsed(given === "-" ? await text(process.stdin) : given);
      if (typeof args === "string") return self.error(`error: ${args}`);
      process.exitCode = await callTool({ name, args }, { ...options, json, config });
    });
}

/** Parses the arguments of a tool call. Returns a string with the problem if they are not a JSON object. */
function parsed(given: string): Readonly<Record<string, unknown>> | string {
  let args: unknown;
  try {
    args = JSON.parse(given);
  } catch (cause) {
    return `the arguments are not JSON: ${messageOf(cause)}`;
  }
  const isObject = typeof args === "object" && args !== null && !Array.isArray(args);
  return isObject
    ? (args as Record<string, unknown>)
    : 'the arguments have to be a JSON object, such as {"city": "Bern"}';
}

const NOTES = `
Requests the toolset of each server, and shows each tool with its arguments
(? marks those that may be left out). Calls and subscriptions are
counted over all hosts that share this home. MCP servers: bobbin mcp list.
Exit code: 0 if every server and every tool can be used, otherwise 1.

Examples:
  bobbin tools
  bobbin tools --json | jq '.[].tools[].name'
  bobbin tools -c rap_servers.desk.url=http://127.0.0.1:8080
  bobbin tools call desk.deploy '{"service": "shop"}'
`;

const CALL_NOTES = `
The host that runs on this home (see bobbin --help) makes the call; if
none runs, or with -c, one that is started for it. No approval is asked for.
Text is printed as text, everything else as JSON. Ctrl-C cancels the call.

Exit code: 0 if the tool succeeded; 1 if it failed, does not exist or does not
take these arguments (stderr says why); 2 if the command line is wrong; 130
after Ctrl-C.

Examples:
  bobbin tools call files.read_file '{"path": "README.md"}'
  bobbin tools call desk.deploy - < arguments.json
  bobbin tools call --json desk.status | jq .structuredContent
`;
