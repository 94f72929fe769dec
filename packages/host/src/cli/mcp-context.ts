import type { Config } from "../config/config.ts";
import { homeDirectory } from "../config/home-folder.ts";
import { etcFolder } from "../config/layer-files.ts";
import { loadConfig } from "../config/load-config.ts";
import { openCredentials } from "../credentials/open-credentials.ts";
import { nodePlatform } from "../platform/node.ts";
import type { Platform } from "../platform/platform.ts";
import { CredentialFiles } from "../store/files/credential-files.ts";
import type { McpServerSettings } from "../tool/mcp/mcp-server-settings.ts";
import { McpOAuth } from "../tool/mcp/oauth/mcp-oauth.ts";
import { escapeControls } from "./terminal-output.ts";

/** The owner under which the logins of the host's own user are stored. */
export const LOCAL = "local";

/** Home, configuration and logins, for the commands about MCP servers. */
export interface McpContext {
  readonly home: string;
  readonly platform: Platform;
  readonly config: Config;
  readonly oauth: McpOAuth;
}

export async function openMcpContext(overrides: readonly string[] = []): Promise<McpContext> {
  const home = homeDirectory();
  const platform = nodePlatform();
  const config = await loadConfig(platform.files, home, overrides, { etc: etcFolder(platform.env) });
  const credentials = openCredentials({
    home,
    platform,
    texts: new CredentialFiles(home, platform),
    settings: () => config.credentials,
  });
  const oauth = new McpOAuth({ platform, store: credentials.mcp });
  return { home, platform, config, oauth };
}

/** Finds a configured MCP server. If there is none, or its entry is invalid, prints an error and returns undefined. */
export function findServer(
  { config }: Pick<McpContext, "config">,
  name: string,
): McpServerSettings | undefined {
  const { servers, problems } = config.mcp;
  const found = servers.find((server) => server.name === name);
  if (found !== undefined) return found;
  const problem = problems.find((one) => one.startsWith(`mcp_servers.${name}.`));
  const why = problem ?? `No MCP server named '${name}' found. See bobbin mcp list.`;
  process.stderr.write(`bobbin: ${escapeControls(why)}\n`);
  return undefined;
}
