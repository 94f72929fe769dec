import type { BobbinClient } from "@bobbin/client";
import { violationOf } from "../tool/json-schema-check.ts";
import { CommandFailure } from "./command-failure.ts";
import { answerQuestions } from "./exec-question-answers.ts";
import { runOnHost } from "./run-on-host.ts";
import { onStopSignals } from "./stop-signals.ts";
import { escapeControls, type Output, oneLine } from "./terminal-output.ts";
import { toolArgumentsText } from "./tool-arguments-text.ts";

export interface ToolCallOptions {
  readonly json?: boolean;
  /** Time limit for the call, in seconds. */
  readonly timeout: number;
  readonly config?: readonly string[];
}

export interface RequestedCall {
  /** `SERVER.TOOL`. */
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What a tool replied, in the form of MCP. */
interface ToolOutcome {
  readonly content: readonly unknown[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | null | undefined;
}

/** A tool that was found, and how to call it. */
interface FoundTool {
  readonly tool: string;
  /** The JSON Schema of the tool's arguments; undefined for tools of tool servers: the host does not send theirs. */
  readonly schema: unknown;
  call(signal: AbortSignal): Promise<ToolOutcome>;
}

/** `bobbin tools call`. Resolves with the exit code. */
export async function callTool(requested: RequestedCall, options: ToolCallOptions): Promise<number> {
  const signals = onStopSignals({ onFirst() {}, onSecond: (code) => process.exit(code) });
  try {
    const code = await runOnHost("tools", options, async ({ client, stdout, stderr }) => {
      answerQuestions(
        client,
        // Everything is approved, because the user has requested this call.
        { approve: true, answer: "default", person: undefined },
        {
          asking() {},
          decided: ({ kind, question, answer, change }) => {
            if (kind === "approval") return;
            stderr.line(escapeControls(`${question} → ${change ?? answer ?? "not answered"}`));
          },
        },
      );
      const timeout = AbortSignal.timeout(options.timeout * 1000);
      const signal = AbortSignal.any([signals.first, timeout]);
      try {
        const found = await untilAborted(signal, findTool(client, requested));
        await checkArguments(requested, found);
        return print(await untilAborted(signal, found.call(signal)), options, stdout, stderr);
      } catch (cause) {
        if (signals.first.aborted) return signals.exitCode!;
        if (timeout.aborted)
          throw new CommandFailure(
            `${requested.name} gave no result within ${options.timeout} s; --timeout changes that`,
          );
        throw cause;
      }
    });
    return signals.exitCode ?? code;
  } finally {
    signals.stop();
  }
}

/** Waits for `work`. Rejects when the signal aborts; pending requests then end with the connection. */
async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function findTool(client: BobbinClient, { name, args }: RequestedCall): Promise<FoundTool> {
  // Only a thread has servers: this ephemeral one starts the servers of the current folder.
  const { thread } = await client.request("thread/start", {
    ...{ cwd: process.cwd(), ephemeral: true, model: "offline", modelProvider: "offline" },
  });
  const threadId = thread.id;
  const [mcp, rap] = await Promise.all([
    client.request("mcpServerStatus/list", { threadId, detail: "toolsAndAuthOnly", limit: 1000 }),
    client.request("rap/servers/list", { threadId }),
  ]);
  const known = [...mcp.data, ...rap.data].map((server) => server.name);
  const server = serverIn(name, known);
  const tool = name.slice(server.length + 1);
  const ofMcp = mcp.data.find((one) => one.name === server);
  if (ofMcp !== undefined) {
    if (ofMcp.toolsError !== null) throw new CommandFailure(`${server}: ${oneLine(ofMcp.toolsError)}`);
    const described = ofMcp.tools[tool];
    if (described === undefined) throw noSuchTool(server, tool, Object.keys(ofMcp.tools));
    return {
      tool,
      schema: described.inputSchema,
      call: (signal) =>
        client.request("mcpServer/tool/call", { threadId, server, tool, arguments: args }, { signal }),
    };
  }
  const ofRap = rap.data.find((one) => one.name === server)!;
  if (ofRap.error !== null) throw new CommandFailure(`${server}: ${oneLine(ofRap.error)}`);
  const described = ofRap.tools.find((one) => one.name === tool);
  if (described === undefined)
    throw noSuchTool(
      server,
      tool,
      ofRap.tools.map((one) => one.name),
    );
  if (!described.available)
    throw new CommandFailure(`${name} is not available: ${oneLine(described.reason ?? "unknown")}`);
  return { tool, schema: undefined, call: (signal) => callInTurn(client, threadId, { tool, args, signal }) };
}

/** The server whose name, followed by a dot, begins `name`; the longest such server name if there are several. */
function serverIn(name: string, known: readonly string[]): string {
  const [server] = known
    .filter((one) => name.startsWith(`${one}.`))
    .toSorted((one, other) => other.length - one.length);
  if (server !== undefined) return server;
  const list =
    known.length === 0
      ? "There are none: bobbin mcp add adds an MCP server, [rap_servers.NAME] in config.toml a tool server."
      : `There are: ${known.map((one) => oneLine(one)).join(", ")}.`;
  throw new CommandFailure(`no server is configured for ${oneLine(name)}. ${list}`);
}

function noSuchTool(server: string, tool: string, tools: readonly string[]): CommandFailure {
  const list =
    tools.length === 0 ? "It has none." : `It has: ${tools.map((one) => oneLine(one)).join(", ")}.`;
  return new CommandFailure(`${server} has no tool ${oneLine(tool)}. ${list}`);
}

async function checkArguments({ name, args }: RequestedCall, { schema }: FoundTool): Promise<void> {
  if (schema === undefined) return;
  const violation = await violationOf(schema, args);
  if (violation === undefined) return;
  const takes = toolArgumentsText(schema);
  throw new CommandFailure(
    `the arguments do not fit ${oneLine(name)}: ${oneLine(violation)}\nIt takes: ${takes === "" ? "none" : takes}`,
  );
}

/**
 * Calls a tool of a tool server. A tool server sends its result to a thread, so the call needs a turn. The turn runs on
 * the offline model, which calls the tool that the message names.
 */
async function callInTurn(
  client: BobbinClient,
  threadId: string,
  { tool, args, signal }: { readonly tool: string; readonly args: object; readonly signal: AbortSignal },
): Promise<ToolOutcome> {
  let outcome: ToolOutcome | undefined;
  let said = "";
  const message = `call ${tool} ${JSON.stringify(args)}`;
  for await (const { method, params } of client.runTurn(threadId, message, { signal })) {
    if (method !== "item/completed") continue;
    const { item } = params;
    if (item.type === "agentMessage") said = item.text;
    if (item.type !== "mcpToolCall" || item.tool !== tool) continue;
    outcome =
      item.error === null
        ? { ...(item.result ?? { content: [] }), ...(item.status === "failed" && { isError: true }) }
        : { content: [{ type: "text", text: item.error.message }], isError: true };
  }
  // If the host refuses the call, there is no result: the model's message contains the reason.
  return outcome ?? { content: [{ type: "text", text: said }], isError: true };
}

/** Prints the result. Returns the exit code. */
function print(outcome: ToolOutcome, { json }: ToolCallOptions, stdout: Output, stderr: Output): number {
  const isError = outcome.isError === true;
  if (json) stdout.line(JSON.stringify(outcome, null, 2));
  else {
    const out = isError ? stderr : stdout;
    for (const text of textsOf(outcome)) out.line(out.isTerminal ? escapeControls(text) : text);
  }
  return isError ? 1 : 0;
}

function textsOf({ content, structuredContent }: ToolOutcome): readonly string[] {
  if (content.length === 0 && structuredContent !== undefined)
    return [JSON.stringify(structuredContent, null, 2)];
  return content.map((part) => {
    const { type, text } = part as { readonly type?: unknown; readonly text?: unknown };
    return type === "text" && typeof text === "string" ? text : JSON.stringify(part, null, 2);
  });
}
