import { join } from "node:path";
import type { Files } from "../../platform/platform.ts";
import { isObject, type JsonObject, readJson } from "../text-files.ts";
import { scalarText, textList } from "./claude-settings.ts";

interface McpSources {
  /** The user's home, or the root of the repository. */
  readonly root: string;
  /** Path of `~/.claude.json`. */
  readonly userFile: string;
  /** Whether the scope is the user's home. Then the servers at the top level of `userFile` are included. */
  readonly isHome: boolean;
  readonly settings: JsonObject | undefined;
}

/**
 * Reads the MCP servers of a scope in the format of `config.toml`, by name. Servers without a counterpart are left
 * out.
 */
export async function claudeMcpServers(
  files: Pick<Files, "openRead" | "realPath">,
  { root, userFile, isHome, settings = {} }: McpSources,
): Promise<ReadonlyMap<string, JsonObject>> {
  const found = new Map<string, unknown>();
  const add = (value: unknown, overwrite: boolean): void => {
    const servers = isObject(value) ? value["mcpServers"] : undefined;
    if (!isObject(servers)) return;
    for (const [name, server] of Object.entries(servers))
      if (overwrite || !found.has(name)) found.set(name, server);
  };
  add(await readJson(files, join(root, ".mcp.json")), true);
  const user = await readJson(files, userFile);
  if (isHome) add(user, true);
  const projects = user?.["projects"];
  for (const [path, project] of Object.entries(isObject(projects) ? projects : {}))
    if (await isSameFolder(files, path, root)) add(project, isHome);
  const enabled = textList(settings["enabledMcpjsonServers"]);
  const disabled = textList(settings["disabledMcpjsonServers"]);
  const servers = new Map<string, JsonObject>();
  for (const [name, entry] of found) {
    if (disabled.includes(name) || (enabled.length > 0 && !enabled.includes(name))) continue;
    const server = isObject(entry) ? serverOf(entry) : undefined;
    if (server !== undefined) servers.set(name, server);
  }
  return servers;
}

async function isSameFolder(files: Pick<Files, "realPath">, one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  try {
    return one.startsWith("/") && (await files.realPath(one)) === (await files.realPath(other));
  } catch {
    return false;
  }
}

/** Converts a server to the format of `config.toml`; undefined if it is disabled, or cannot be expressed there. */
function serverOf(entry: JsonObject): JsonObject | undefined {
  const { type, command, url, enabled, disabled } = entry;
  if (enabled === false || disabled === true) return undefined;
  const program = scalarText(command);
  if (program !== undefined) {
    const args = "args" in entry ? textList(entry["args"]) : [];
    if ((type ?? "stdio") !== "stdio" || [program, ...args].some(hasPlaceholder)) return undefined;
    const environment = environmentOf(entry["env"]);
    return environment && { command: program, ...(args.length > 0 && { args }), ...environment };
  }
  const address = scalarText(url);
  if (address === undefined || hasPlaceholder(address)) return undefined;
  if (!["http", "streamable_http"].includes((type as string | undefined) ?? "http")) return undefined;
  const headers = headersOf(entry["headers"]);
  return headers && { url: address, ...headers };
}

/** Splits the environment into values and inherited variables; undefined if a value contains other placeholders. */
function environmentOf(env: unknown): JsonObject | undefined {
  const values: [string, string][] = [];
  const handedOn: string[] = [];
  for (const [name, value] of Object.entries(isObject(env) ? env : {})) {
    const text = scalarText(value) ?? JSON.stringify(value);
    if (placeholder(text) === name) handedOn.push(name);
    else if (hasPlaceholder(text)) return undefined;
    else values.push([name, text]);
  }
  return {
    ...(handedOn.length > 0 && { env_vars: handedOn }),
    ...(values.length > 0 && { env: Object.fromEntries(values) }),
  };
}

function headersOf(headers: unknown): JsonObject | undefined {
  const values: [string, string][] = [];
  const variables: [string, string][] = [];
  let token: string | undefined;
  for (const [name, value] of Object.entries(isObject(headers) ? headers : {})) {
    const text = scalarText(value) ?? JSON.stringify(value);
    const bearer = /^authorization$/i.test(name) ? /^Bearer (.*)$/.exec(text)?.[1] : undefined;
    const ofToken = bearer === undefined ? undefined : placeholder(bearer);
    const variable = placeholder(text);
    if (ofToken !== undefined) token = ofToken;
    else if (variable !== undefined) variables.push([name, variable]);
    else if (hasPlaceholder(text)) return undefined;
    else values.push([name, text]);
  }
  return {
    ...(token !== undefined && { bearer_token_env_var: token }),
    ...(values.length > 0 && { http_headers: Object.fromEntries(values) }),
    ...(variables.length > 0 && { env_http_headers: Object.fromEntries(variables) }),
  };
}

/** Returns NAME if the text consists of `${NAME}` or `${NAME:-default}` only. */
function placeholder(text: string): string | undefined {
  return /^\$\{([A-Za-z_]\w*)(?::-[^}]*)?\}$/.exec(text)?.[1];
}

function hasPlaceholder(text: string): boolean {
  return text.includes("${");
}
