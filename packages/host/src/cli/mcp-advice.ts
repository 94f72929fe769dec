import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { McpError } from "../tool/mcp/mcp-interface.ts";
import type { McpServerSettings } from "../tool/mcp/mcp-server-settings.ts";
import { LAST_WORDS } from "../tool/mcp/stdio-transport.ts";
import type { Problem } from "./problem-and-advice.ts";
import type { McpTrial } from "./try-mcp-server.ts";

type Failed = Pick<Extract<McpTrial, { readonly works: false }>, "error" | "auth">;
type Transport<K> = Extract<McpServerSettings["transport"], { readonly kind: K }>;

/** Explains to the user why an MCP server cannot be used, and what to do. */
export async function mcpProblem(settings: McpServerSettings, failed: Failed): Promise<Problem> {
  const { name, transport } = settings;
  const key = `mcp_servers.${name}`;
  if (failed.error.kind === "timeout")
    return {
      found: sentence(failed.error.message),
      advice: `Check whether it is an MCP server. If it is only slow, raise ${key}.startup_timeout_sec.`,
    };
  return transport.kind === "stdio"
    ? programProblem(transport, failed.error, key)
    : addressProblem(name, transport, failed, key);
}

async function programProblem(
  { command, cwd }: Transport<"stdio">,
  error: McpError,
  key: string,
): Promise<Problem> {
  const { code } = (error.cause ?? {}) as { code?: unknown };
  if (code === "ENOENT") {
    const folder = resolve(cwd ?? ".");
    const isThere = await stat(folder).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isThere) return { found: `The folder ${folder} does not exist.`, advice: `Correct ${key}.cwd.` };
    return {
      found: `The program ${command} was not found.`,
      advice: `Install it, or correct ${key}.command. A name without a path is looked up in PATH.`,
    };
  }
  if (code === "EACCES")
    return {
      found: `The program ${command} may not be run.`,
      advice: `Make it executable, or correct ${key}.command.`,
    };
  if (error.kind === "lost") {
    const [how, words] = error.message.split(LAST_WORDS);
    return {
      found: [`It ended before it was connected: ${how}.`, ...lastLines(words)].join("\n"),
      advice: "Run it in a terminal to see why. An MCP server waits for input on stdin.",
    };
  }
  return {
    found: `It does not speak MCP as expected: ${firstLine(error.message)}.`,
    advice: `Check whether ${key}.command and args start an MCP server on stdio.`,
  };
}

function addressProblem(
  name: string,
  { url, bearerTokenEnvVar: variable }: Transport<"http">,
  { error, auth }: Failed,
  key: string,
): Problem {
  if (error.kind === "unauthorized") {
    if (auth === "unsupported")
      return {
        found: "It wants a token (HTTP 401), and does not say where to log in.",
        advice: `Set ${key}.bearer_token_env_var to the variable that holds its token.`,
      };
    if (auth !== "bearerToken")
      return { found: "It wants a login (HTTP 401).", advice: `bobbin mcp login ${name}` };
    return {
      found: "It does not accept the configured token (HTTP 401).",
      advice:
        variable === null
          ? `Correct the headers of ${key}.`
          : `Set ${variable} to the token that it expects.`,
    };
  }
  if (variable !== null && error.message.includes(variable))
    return {
      found: `The variable ${variable} is not set.`,
      advice: `Set ${variable} to the token of ${name}.`,
    };
  if (/cannot be reached/.test(error.message))
    return { found: sentence(error.message), advice: `Start the server, or correct ${key}.url (${url}).` };
  return {
    found: `It does not speak MCP at this address: ${replyIn(error.message)}.`,
    advice: `Correct ${key}.url (${url}); the address of an MCP server often ends with /mcp.`,
  };
}

const MAX_STDERR_LINES = 8;

/** The last lines that the server's program wrote to stderr. They usually contain the reason of the failure. */
function lastLines(words: string | undefined): readonly string[] {
  if (words === undefined) return [];
  return words
    .trim()
    .split("\n")
    .slice(-MAX_STDERR_LINES)
    .map((line) => `  stderr: ${line}`);
}

/** Extracts the HTTP status or content type from the error message of a server that does not speak MCP. */
function replyIn(message: string): string {
  const status = /HTTP \d{3}/.exec(message)?.[0];
  const type = /Unexpected content type: ([\w/+.-]+)/.exec(message)?.[1];
  const reply = status ?? type;
  return reply === undefined ? firstLine(message) : `it replied with ${reply}`;
}

/** The first line of a message, without its full stop. */
function firstLine(message: string): string {
  return message.split("\n", 1)[0]!.trim().replace(/\.$/, "");
}

function sentence(message: string): string {
  const line = firstLine(message);
  return `${/^https?:/.test(line) ? line : line.charAt(0).toUpperCase() + line.slice(1)}.`;
}
