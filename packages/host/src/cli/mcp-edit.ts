import { valueAt } from "../config/layered-config.ts";
import { readMcpServers } from "../config/mcp-servers.ts";
import { messageOf } from "../errors.ts";
import type { McpServerSettings } from "../tool/mcp/mcp-server-settings.ts";
import { loginAdvice } from "../tool/mcp/oauth/login-advice.ts";
import { openHomeConfig } from "./home-config.ts";
import type { AddOptions } from "./mcp-command.ts";
import { LOCAL, type McpContext, openMcpContext } from "./mcp-context.ts";
import { performLogin } from "./mcp-login.ts";
import { escapeControls, Output } from "./terminal-output.ts";

/** Adds a server to config.toml, or replaces it. Resolves with the exit code. */
export async function addServer(
  name: string,
  command: readonly string[],
  options: AddOptions & { readonly config?: readonly string[] },
): Promise<number> {
  const stdout = new Output(process.stdout);
  const wrong = wrongUsage(command, options);
  if (wrong !== undefined) return fail(`${wrong} See bobbin mcp add --help.`, 2);
  const entry = entryOf(command, options);
  if (typeof entry === "string") return fail(entry, 2);
  const { servers, problems } = readMcpServers({ mcp_servers: { [name]: entry } });
  const [server] = servers;
  if (server === undefined) return fail(problems.join(" "), 1);
  const context = await openMcpContext(options.config);
  const { writer, layers } = openHomeConfig(context.platform, context.home);
  const isThere = valueAt(await layers.merged(), ["mcp_servers", name]) !== undefined;
  try {
    await writer.write({ edits: [{ keyPath: keyPath(name), value: entry, mergeStrategy: "replace" }] });
  } catch (cause) {
    return fail(messageOf(cause), 1);
  }
  stdout.line(`${isThere ? "Replaced" : "Added"} MCP server '${name}': ${escapeControls(layers.path)}`);
  return server.transport.kind === "stdio" ? 0 : loginAfterAdd(context, server, options, stdout);
}

/** Starts the login to a server that was just added, if it supports logins and the command runs on a terminal. */
async function loginAfterAdd(
  context: McpContext,
  server: McpServerSettings,
  { oauthClientRegistration: registration = "auto" }: AddOptions,
  stdout: Output,
): Promise<number> {
  const { name } = server;
  const status = await context.oauth.status(server, LOCAL);
  if (status === "notLoggedIn" && stdout.isTerminal && process.stdin.isTTY === true)
    return performLogin(context, server, { scopes: null, registration, browser: true });
  if (status === "notLoggedIn") stdout.line(loginAdvice(name));
  if (status === "unknown")
    stdout.line(`Whether it wants a login could not be found out. Try it: bobbin mcp test ${name}`);
  await context.oauth.close();
  return 0;
}

/** Removes a server, and its login. Resolves with the exit code. */
export async function removeServer(name: string, overrides?: readonly string[]): Promise<number> {
  const stdout = new Output(process.stdout);
  const context = await openMcpContext(overrides);
  const { platform, home, oauth, config } = context;
  const { layers, writer } = openHomeConfig(platform, home);
  if (valueAt(await layers.merged(), ["mcp_servers", name]) === undefined) {
    stdout.line(`No MCP server named '${escapeControls(name)}' found.`);
    return 0;
  }
  try {
    await writer.write({ edits: [{ keyPath: keyPath(name), value: null, mergeStrategy: "replace" }] });
  } catch (cause) {
    return fail(messageOf(cause), 1);
  }
  const server = config.mcp.servers.find((one) => one.name === name);
  if (server !== undefined) await oauth.logout(server, LOCAL);
  await oauth.close();
  stdout.line(`Removed MCP server '${escapeControls(name)}': ${escapeControls(layers.path)}`);
  return 0;
}

function keyPath(name: string): string {
  return `mcp_servers.${JSON.stringify(name)}`;
}

function fail(why: string, code: number): number {
  process.stderr.write(`bobbin: ${escapeControls(why)}\n`);
  return code;
}

function wrongUsage(command: readonly string[], options: AddOptions): string | undefined {
  if (options.url === undefined && command.length === 0)
    return "A server has an address (--url URL) or a program (-- COMMAND).";
  if (options.url !== undefined && command.length > 0)
    return "A server has either an address (--url URL) or a program (-- COMMAND).";
  if (options.url !== undefined)
    return options.env === undefined ? undefined : "--env is for servers with a program.";
  const { bearerTokenEnvVar, oauthClientId, oauthClientSecret, oauthResource } = options;
  const isHttp = [bearerTokenEnvVar, oauthClientId, oauthClientSecret, oauthResource].some(
    (one) => one !== undefined,
  );
  return isHttp ? "Tokens and logins are for servers with an address (--url)." : undefined;
}

/** Builds the server's entry for config.toml. Returns an error message if an option is malformed. */
function entryOf(
  [program, ...args]: readonly string[],
  { env = [], url, bearerTokenEnvVar, oauthClientId, oauthClientSecret, oauthResource }: AddOptions,
): Record<string, unknown> | string {
  if (url === undefined) {
    const variables = env.map((pair) => /^([^=]+)=(.*)$/s.exec(pair));
    const wrong = variables.indexOf(null);
    if (wrong >= 0) return `--env ${env[wrong]}: expected KEY=VALUE.`;
    return {
      command: program,
      ...(args.length > 0 && { args }),
      ...(env.length > 0 && {
        env: Object.fromEntries(variables.map((found) => [found![1]!.trim(), found![2]])),
      }),
    };
  }
  const oauth = {
    ...(oauthClientId !== undefined && { client_id: oauthClientId }),
    ...(oauthClientSecret !== undefined && { client_secret: oauthClientSecret }),
  };
  return {
    url,
    ...(bearerTokenEnvVar !== undefined && { bearer_token_env_var: bearerTokenEnvVar }),
    ...(oauthResource !== undefined && { oauth_resource: oauthResource }),
    ...(Object.keys(oauth).length > 0 && { oauth }),
  };
}
