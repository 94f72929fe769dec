import {
  type HttpTransport,
  MCP_APPROVAL_MODES,
  type McpApprovalMode,
  type McpServerSettings,
  type StdioTransport,
} from "../tool/mcp/mcp-server-settings.ts";
import { ConfigError } from "./bad-config-error.ts";
import { flag, list, oneOf, subtable, type Table, text, textTable, wholeWithin } from "./table-reader.ts";
import { address, headerTable } from "./tool-servers.ts";

/** `[mcp_servers]`, as written and as parsed. */
export interface McpConfig {
  /** The table as written. A thread's own configuration is merged into it. */
  readonly table: Table;
  readonly servers: readonly McpServerSettings[];
  /** Messages about ignored servers. Each names the invalid key. */
  readonly problems: readonly string[];
}

/** One layer of `[mcp_servers]`. Later layers override earlier ones. */
export interface McpLayer {
  readonly table: Table;
  readonly origin: McpServerSettings["origin"];
}

/** Reads `[mcp_servers.*]` of config.toml. An invalid entry disables only its own server. */
export function readMcpServers(table: Table): McpConfig {
  let servers: Table = {};
  const problems: string[] = [];
  try {
    servers = subtable(table, "mcp_servers") ?? {};
  } catch (cause) {
    problems.push(wordsOf(cause));
  }
  const read = mergeMcpServers([{ table: servers, origin: "host" }]);
  return { table: servers, servers: read.servers, problems: [...problems, ...read.problems] };
}

/**
 * Merges the servers of all layers, sorted by name. An entry with a `command` or a `url` replaces the entry of the
 * layer below, so that environment variables and headers for one server are never sent to another. Any other entry
 * overrides single keys. `false` and null remove the server.
 */
export function mergeMcpServers(
  layers: readonly McpLayer[],
  at = "mcp_servers.",
): Pick<McpConfig, "servers" | "problems"> {
  const entries = new Map<string, McpLayer>();
  const problems: string[] = [];
  for (const { table, origin } of layers)
    for (const name of Object.keys(table)) {
      const below = entries.get(name);
      if (table[name] === false || table[name] === null) {
        entries.delete(name);
        continue;
      }
      try {
        const entry = subtable(table, name, at)!;
        const isWhole = below === undefined || entry.command !== undefined || entry.url !== undefined;
        entries.set(
          name,
          isWhole ? { table: entry, origin } : { ...below, table: mergeEntry(below.table, entry) },
        );
      } catch (cause) {
        entries.delete(name);
        problems.push(wordsOf(cause));
      }
    }
  const servers: McpServerSettings[] = [];
  for (const [name, { table, origin }] of entries) {
    try {
      const server = readServer(name, table, `${at}${name}.`, origin);
      if (server !== null) servers.push(server);
    } catch (cause) {
      problems.push(wordsOf(cause));
    }
  }
  return { servers: servers.sort((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

/** Merges two entries, including their nested tables (`env`, `tools.NAME`). */
function mergeEntry(below: Table, above: Table): Table {
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = Object.hasOwn(below, key) ? below[key] : undefined;
    Object.defineProperty(merged, key, {
      value: isTable(under) && isTable(value) ? mergeEntry(under, value) : value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return merged;
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wordsOf(cause: unknown): string {
  if (cause instanceof ConfigError) return cause.message;
  throw cause;
}

/** The length is limited, because the name becomes part of tool names. */
const NAME = /^[\w-]{1,64}$/;

/** The longest delay that a timer of Node.js supports. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const STARTUP_TIMEOUT_MS = 30_000;
const TOOL_TIMEOUT_MS = 300_000;

/** Reads one entry of `[mcp_servers]`; null for a disabled entry that has neither `command` nor `url`. */
function readServer(
  name: string,
  entry: Table,
  at: string,
  origin: McpServerSettings["origin"],
): McpServerSettings | null {
  if (!NAME.test(name))
    throw new ConfigError(
      `${JSON.stringify(at.slice(0, 200))}: the name of an MCP server has 1 to 64 letters, digits, "-" and "_"`,
    );
  const enabled = flag(entry, "enabled", at) ?? true;
  if (!enabled && entry.command === undefined && entry.url === undefined) return null;
  const oauth = subtable(entry, "oauth", at) ?? {};
  return {
    name,
    transport: readTransport(entry, at),
    startupTimeoutMs:
      seconds(entry, "startup_timeout_sec", at) ??
      wholeWithin(entry, "startup_timeout_ms", 1, MAX_TIMEOUT_MS, at) ??
      STARTUP_TIMEOUT_MS,
    toolTimeoutMs: seconds(entry, "tool_timeout_sec", at) ?? TOOL_TIMEOUT_MS,
    enabled,
    required: flag(entry, "required", at) ?? false,
    enabledTools: list(entry, "enabled_tools", at) ?? null,
    disabledTools: list(entry, "disabled_tools", at) ?? [],
    defaultApprovalMode: oneOf(entry, "default_tools_approval_mode", MCP_APPROVAL_MODES, at) ?? null,
    approvalModes: readApprovalModes(entry, at),
    supportsParallelToolCalls: flag(entry, "supports_parallel_tool_calls", at) ?? false,
    scopes: list(entry, "scopes", at) ?? null,
    oauth: {
      clientId: text(oauth, "client_id", `${at}oauth.`) ?? null,
      clientSecret: text(oauth, "client_secret", `${at}oauth.`) ?? null,
      callbackPort: wholeWithin(oauth, "callback_port", 1, 65_535, `${at}oauth.`) ?? null,
    },
    oauthResource: text(entry, "oauth_resource", at) ?? null,
    isolation: oneOf(entry, "isolation", ["thread", "shared"], at) ?? null,
    origin,
  };
}

const STDIO_KEYS = ["args", "env", "env_vars", "cwd"];
const HTTP_KEYS = [
  "bearer_token_env_var",
  "http_headers",
  "env_http_headers",
  "http_headers_helper",
  "oauth",
  "oauth_resource",
];

function readTransport(entry: Table, at: string): StdioTransport | HttpTransport {
  if (entry.bearer_token !== undefined)
    throw new ConfigError(`${at}bearer_token cannot be set; name a variable with bearer_token_env_var`);
  const command = text(entry, "command", at);
  const url = text(entry, "url", at);
  if (command === undefined && url === undefined)
    throw new ConfigError(`${at}command, or ${at}url, is required`);
  if (command !== undefined && url !== undefined)
    throw new ConfigError(`${at}url cannot be set beside ${at}command`);
  const foreign = (command === undefined ? STDIO_KEYS : HTTP_KEYS).find((key) => entry[key] !== undefined);
  if (foreign !== undefined)
    throw new ConfigError(
      `${at}${foreign} is for servers with a ${command === undefined ? "command" : "url"}`,
    );
  return command === undefined ? readHttp(entry, url!, at) : readStdio(entry, command, at);
}

function readStdio(entry: Table, command: string, at: string): StdioTransport {
  if (command.trim() === "") throw new ConfigError(`${at}command is empty`);
  const args = list(entry, "args", at) ?? [];
  const env = textTable(entry, "env", at);
  for (const [name, value] of Object.entries(env))
    if (!isVariable(name) || value.includes("\0"))
      throw new ConfigError(`${at}env.${name}: expected a variable's name, and a value without NUL`);
  if ([command, ...args].some((word) => word.includes("\0")))
    throw new ConfigError(`${at}args: expected words without NUL`);
  return {
    kind: "stdio",
    command,
    args,
    env,
    envVars: readVariables(entry, at),
    cwd: text(entry, "cwd", at) ?? null,
  };
}

function readHttp(entry: Table, url: string, at: string): HttpTransport {
  const helper = text(entry, "http_headers_helper", at) ?? null;
  if (helper?.trim() === "") throw new ConfigError(`${at}http_headers_helper is empty`);
  const envHeaders = headerTable(entry, "env_http_headers", at);
  return {
    kind: "http",
    url: address(url, `${at}url`),
    bearerTokenEnvVar: text(entry, "bearer_token_env_var", at) ?? null,
    headers: headerTable(entry, "http_headers", at),
    envHeaders,
    headersHelper: helper,
  };
}

/** `env_vars` contains names, or tables with a name and the source "local". */
function readVariables(entry: Table, at: string): readonly string[] {
  const value = entry.env_vars;
  if (value === undefined) return [];
  const wrong = new ConfigError(
    `${at}env_vars: expected a list of names of variables, or of tables with a name and the source "local"`,
  );
  if (!Array.isArray(value)) throw wrong;
  return value.map((one: unknown) => {
    const name = isTable(one) ? one.name : one;
    const source = isTable(one) ? (one.source ?? "local") : "local";
    if (typeof name !== "string" || !isVariable(name) || source !== "local") throw wrong;
    return name;
  });
}

function isVariable(name: string): boolean {
  return name !== "" && !/[=\0]/.test(name);
}

function readApprovalModes(entry: Table, at: string): Readonly<Record<string, McpApprovalMode>> {
  const tools = subtable(entry, "tools", at) ?? {};
  const modes = Object.keys(tools).flatMap((name): [string, McpApprovalMode][] => {
    const tool = subtable(tools, name, `${at}tools.`)!;
    const mode = oneOf(tool, "approval_mode", MCP_APPROVAL_MODES, `${at}tools.${name}.`);
    return mode === undefined ? [] : [[name, mode]];
  });
  return Object.fromEntries(modes);
}

/** Reads a number of seconds, which may have a fraction, as milliseconds. */
function seconds(entry: Table, key: string, at: string): number | undefined {
  const value = entry[key];
  if (value === undefined) return undefined;
  const ms = Math.round(Number(typeof value === "bigint" || typeof value === "number" ? value : NaN) * 1000);
  if (ms >= 1 && ms <= MAX_TIMEOUT_MS) return ms;
  throw new ConfigError(
    `${at}${key}: expected seconds from 0.001 to ${Math.floor(MAX_TIMEOUT_MS / 1000)}, found ${String(value)}`,
  );
}
