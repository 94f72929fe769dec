// Small programs that use the installed packages. They must work in every supported runtime.

/** Runs a turn in its own host. `command` is a JavaScript expression for the program that runs the host. */
export const clientOnStdio = (command = "process.execPath") => `
import { connect } from "@bobbin/client";
import { stdio } from "@bobbin/client/node";
const command = ${command};
const bobbin = await connect(stdio({ command, args: ["node_modules/bobbin/bin/bobbin", "app-server"] }));
const thread = await bobbin.startThread();
const { status, text } = await thread.run("Hello!");
await bobbin.close();
console.log(status, text.match(/You said: \\S+/)[0]);
`;

/**
 * Runs a turn in a host that listens at this address (a JavaScript expression). Prints the end, and whether the
 * deltas add up. `socket`: a statement that imports a WebSocket class.
 */
export const clientAt = (address: string, socket = "") => `
${socket}
import { connect } from "@bobbin/client";
const bobbin = await connect(${address}${socket === "" ? "" : ", { WebSocket }"});
const thread = await bobbin.startThread();
const turn = await thread.startTurn("Hello!");
let said = "";
for await (const { method, params } of turn) if (method === "item/agentMessage/delta") said += params.delta;
const { status, text } = await turn.result();
await bobbin.close();
const result = [status, said === text, text.match(/You said: \\S+/)[0]].join(" ");
console.log(result);
`;

/** Asks a tool server for its tools. */
export const TOOL_SERVER = `
import { createToolServer, noAuth, tool } from "@bobbin/rap";
import { folderData } from "@bobbin/rap/node";
const roll = tool({ name: "roll", description: "Rolls a die.", run: () => "4" });
const server = createToolServer({ name: "dice", auth: noAuth, tools: [roll] });
const { url, close } = await server.serve();
const { tools } = await (await fetch(url + "/.well-known/rap-toolset")).json();
await close();
console.log(tools.map(({ name }) => name).join(), typeof folderData);
`;

/** Looks a method up. */
export const PROTOCOL_TABLE = `
import { methods } from "@bobbin/protocol";
console.log(methods["thread/start"].stability);
`;
