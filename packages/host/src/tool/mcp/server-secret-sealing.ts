import type { LoadSettings } from "@bobbin/protocol";
import type { Seals } from "../../credentials/journal-secret-sealing.ts";

type Given = Readonly<Record<string, unknown>>;

/**
 * Keys of an MCP server whose values are stored in journals without encryption. Texts under all other keys may be
 * secrets: values of variables and headers, arguments, the URL (some servers have no other protection), and unknown
 * keys.
 */
const CLEAR: ReadonlySet<string> = new Set([
  "command",
  "cwd",
  "env_vars",
  "bearer_token_env_var",
  "env_http_headers",
  "enabled",
  "required",
  "startup_timeout_sec",
  "startup_timeout_ms",
  "tool_timeout_sec",
  "enabled_tools",
  "disabled_tools",
  "default_tools_approval_mode",
  "supports_parallel_tool_calls",
  "tools",
  "scopes",
  "isolation",
  "oauth_resource",
]);

/** Encrypts (seals) the secrets of MCP servers in load settings, for the journal. */
export async function sealedServers(load: LoadSettings, seals: Pick<Seals, "seal">): Promise<LoadSettings> {
  const { mcpServers } = load;
  if (mcpServers == null) return load;
  const found = new Set<string>();
  withSecrets(mcpServers, (text) => {
    found.add(text);
    return text;
  });
  const sealed = new Map<string, string>();
  for (const text of found) sealed.set(text, await seals.seal(text));
  return { ...load, mcpServers: withSecrets(mcpServers, (text) => sealed.get(text)!) };
}

/** MCP servers with decrypted secrets, and the reasons why others are missing. */
export interface OpenedServers {
  readonly servers: Given;
  readonly problems: readonly string[];
}

/** Decrypts the secrets. A server with a secret that cannot be decrypted is left out. */
export function openedServers(servers: Given, seals: Pick<Seals, "open">): OpenedServers {
  const problems: string[] = [];
  const opened = Object.entries(servers).map(([name, server]): [string, unknown] => {
    let isWhole = true;
    const open = (text: string): string => {
      const secret = seals.open(text);
      isWhole &&= secret !== undefined;
      return secret ?? "";
    };
    const entry = withEntrySecrets(server, open);
    if (isWhole) return [name, entry];
    problems.push(
      `mcp_servers.${name}: the key that its secrets are sealed with cannot be read; give it again`,
    );
    return [name, false];
  });
  return { servers: Object.fromEntries(opened), problems };
}

function withSecrets(servers: Given, change: (text: string) => string): Given {
  return mapValues(servers, (server) => withEntrySecrets(server, change));
}

function withEntrySecrets(server: unknown, change: (text: string) => string): unknown {
  if (!isObject(server)) return server;
  return mapValues(server, (value, key) => (CLEAR.has(key) ? value : withTexts(value, change)));
}

function withTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((one) => withTexts(one, change));
  return isObject(value) ? mapValues(value, (one) => withTexts(one, change)) : value;
}

function mapValues(servers: Given, change: (value: unknown, key: string) => unknown): Given {
  return Object.fromEntries(Object.entries(servers).map(([key, value]) => [key, change(value, key)]));
}

function isObject(value: unknown): value is Given {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
