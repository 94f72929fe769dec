import type { McpAuthStatus } from "@bobbin/protocol";
import type { McpServerSettings } from "../tool/mcp/mcp-server-settings.ts";
import { findServer, LOCAL, openMcpContext } from "./mcp-context.ts";
import { escapeControls, Output } from "./terminal-output.ts";

interface ListOptions {
  readonly json?: boolean;
  readonly config?: readonly string[];
}

/** Shows all servers. Resolves with the exit code. */
export async function listServers({ json, config: overrides }: ListOptions): Promise<number> {
  const stdout = new Output(process.stdout);
  const { config, oauth } = await openMcpContext(overrides);
  const { servers, problems } = config.mcp;
  const listed = await Promise.all(
    servers.map(async (server) => ({ server, auth: await oauth.status(server, LOCAL) })),
  );
  await oauth.close();
  if (json) stdout.line(JSON.stringify(listed.map(listEntry), null, 2));
  else stdout.write(tables(listed, stdout));
  for (const problem of problems) process.stderr.write(`bobbin: ${escapeControls(problem)}\n`);
  await stdout.flushed();
  return problems.length === 0 ? 0 : 1;
}

/** Shows one server. Resolves with the exit code. */
export async function getServer(name: string, { json, config: overrides }: ListOptions): Promise<number> {
  const stdout = new Output(process.stdout);
  const context = await openMcpContext(overrides);
  const server = findServer(context, name);
  if (server === undefined) return 1;
  if (json) stdout.line(JSON.stringify(getEntry(server), null, 2));
  else stdout.write(details(server, stdout));
  await stdout.flushed();
  return 0;
}

interface Listed {
  readonly server: McpServerSettings;
  readonly auth: McpAuthStatus;
}

/** The login states. The JSON names are those of `codex mcp list --json`. */
const AUTH: Readonly<Record<McpAuthStatus, { readonly json: string; readonly words: string }>> = {
  unknown: { json: "unknown", words: "unknown" },
  unsupported: { json: "unsupported", words: "no login" },
  notLoggedIn: { json: "not_logged_in", words: "not logged in" },
  bearerToken: { json: "bearer_token", words: "bearer token" },
  oAuth: { json: "o_auth", words: "logged in" },
};

function listEntry({ server, auth }: Listed): object {
  const { name, enabled, ...rest } = entryOf(server);
  return { name, enabled, disabled_reason: null, ...rest, auth_status: AUTH[auth].json };
}

function getEntry(server: McpServerSettings): object {
  const { name, enabled, transport, ...times } = entryOf(server);
  const { enabledTools, disabledTools } = server;
  return {
    name,
    enabled,
    disabled_reason: null,
    transport,
    enabled_tools: enabledTools,
    disabled_tools: disabledTools.length === 0 ? null : disabledTools,
    ...times,
  };
}

/** The entry in the format of `codex mcp list --json`, except that values which may be secret are hidden. */
function entryOf({ name, enabled, transport, startupTimeoutMs, toolTimeoutMs }: McpServerSettings) {
  return {
    name,
    enabled,
    transport: transportEntry(transport),
    startup_timeout_sec: startupTimeoutMs / 1000,
    tool_timeout_sec: toolTimeoutMs / 1000,
  };
}

function transportEntry(transport: McpServerSettings["transport"]): object {
  if (transport.kind === "stdio") {
    const { command, args, env, envVars, cwd } = transport;
    return { type: "stdio", command, args, env: hidden(env), env_vars: envVars, cwd };
  }
  const { url, bearerTokenEnvVar, headers, envHeaders, headersHelper } = transport;
  return {
    type: "streamable_http",
    url,
    bearer_token_env_var: bearerTokenEnvVar,
    http_headers: hidden(headers),
    env_http_headers: Object.keys(envHeaders).length === 0 ? null : envHeaders,
    http_headers_helper: headersHelper === null ? null : HIDDEN,
  };
}

const HIDDEN = "*****";

/** Hides values of environment variables and headers: they are often secret, and lists end up in logs. */
function hidden(values: Readonly<Record<string, string>>): Record<string, string> | null {
  const names = Object.keys(values);
  return names.length === 0 ? null : Object.fromEntries(names.map((name) => [name, HIDDEN]));
}

function tables(listed: readonly Listed[], out: Output): string {
  if (listed.length === 0)
    return "\n  No MCP servers are configured. Add one: bobbin mcp add NAME -- COMMAND\n\n";
  const programs = listed.flatMap(({ server: { name, transport, enabled } }) =>
    transport.kind === "stdio"
      ? [[name, commandLine(transport), pairs(transport.env, transport.envVars), status(enabled), "-"]]
      : [],
  );
  const addresses = listed.flatMap(({ server: { name, transport, enabled }, auth }) =>
    transport.kind === "http"
      ? [[name, transport.url, transport.bearerTokenEnvVar ?? "-", status(enabled), AUTH[auth].words]]
      : [],
  );
  return [
    ...(programs.length > 0 ? table([["Name", "Command", "Env", "Status", "Auth"], ...programs], out) : []),
    ...(addresses.length > 0
      ? table([["Name", "Url", "Token variable", "Status", "Auth"], ...addresses], out)
      : []),
    "\n",
  ].join("");
}

/** Formats rows with aligned columns. The first row is the header. */
function table(rows: readonly (readonly string[])[], out: Output): readonly string[] {
  const cells = rows.map((row) => row.map(escapeControls));
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells.map((row, nth) => {
    const line = row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd();
    return nth === 0 ? `\n  ${out.dim(line)}\n` : `  ${line}\n`;
  });
}

function status(enabled: boolean): string {
  return enabled ? "enabled" : "disabled";
}

export function commandLine({
  command,
  args,
}: {
  readonly command: string;
  readonly args: readonly string[];
}): string {
  return [command, ...args]
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(" ");
}

function pairs(values: Readonly<Record<string, string>>, names: readonly string[] = []): string {
  const all = [...Object.keys(values).map((name) => `${name}=${HIDDEN}`), ...names];
  return all.length === 0 ? "-" : all.join(", ");
}

function details(server: McpServerSettings, out: Output): string {
  const { name, enabled, transport } = server;
  const lines: (readonly [string, string])[] = [
    ["enabled", String(enabled)],
    ...(transport.kind === "stdio" ? programLines(transport) : addressLines(server, transport)),
    ["startup_timeout_sec", String(server.startupTimeoutMs / 1000)],
    ["tool_timeout_sec", String(server.toolTimeoutMs / 1000)],
    ...(server.required ? [["required", "true"] as const] : []),
    ...(server.enabledTools === null ? [] : [["enabled_tools", server.enabledTools.join(", ")] as const]),
    ...(server.disabledTools.length === 0
      ? []
      : [["disabled_tools", server.disabledTools.join(", ")] as const]),
    ...(server.defaultApprovalMode === null
      ? []
      : [["default_tools_approval_mode", server.defaultApprovalMode] as const]),
  ];
  const text = lines.map(([key, value]) => `    ${out.dim(`${key}:`)} ${escapeControls(value)}\n`).join("");
  return `\n  ${out.bold(name)}\n${text}    ${out.dim(`→ bobbin mcp test ${name}, bobbin mcp remove ${name}`)}\n\n`;
}

type Transport<K> = Extract<McpServerSettings["transport"], { readonly kind: K }>;

function programLines(transport: Transport<"stdio">): readonly (readonly [string, string])[] {
  return [
    ["transport", "stdio"],
    ["command", commandLine(transport)],
    ["cwd", transport.cwd ?? "-"],
    ["env", pairs(transport.env, transport.envVars)],
  ];
}

function addressLines(
  { oauth, oauthResource, scopes }: McpServerSettings,
  transport: Transport<"http">,
): readonly (readonly [string, string])[] {
  const variables = Object.entries(transport.envHeaders).map(([header, variable]) => `${header}=${variable}`);
  return [
    ["transport", "streamable_http"],
    ["url", transport.url],
    ["bearer_token_env_var", transport.bearerTokenEnvVar ?? "-"],
    ["http_headers", pairs(transport.headers)],
    ["env_http_headers", variables.length === 0 ? "-" : variables.join(", ")],
    ["http_headers_helper", transport.headersHelper === null ? "-" : HIDDEN],
    ...(scopes === null ? [] : [["scopes", scopes.join(", ")] as const]),
    ...(oauth.clientId === null ? [] : [["oauth.client_id", oauth.clientId] as const]),
    ...(oauth.callbackPort === null ? [] : [["oauth.callback_port", String(oauth.callbackPort)] as const]),
    ...(oauthResource === null ? [] : [["oauth_resource", oauthResource] as const]),
  ];
}
