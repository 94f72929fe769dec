import type { McpServerSettings } from "../tool/mcp/mcp-server-settings.ts";
import { ConfigError } from "./bad-config-error.ts";
import { isTable } from "./layer.ts";
import { oneOf, subtable, type Table, text } from "./table-reader.ts";

/** Rule for an allowed MCP server. `identity` is the table as it is written. */
export type McpServerRule = { readonly identity: Table } & (
  | { readonly kind: "command"; readonly executable: string; readonly args: readonly ValueRule[] | null }
  | { readonly kind: "url"; readonly url: ValueRule }
);

/** Condition on a text: equal to `value`, beginning with `value`, or matched by `expression` as a whole. */
type ValueRule =
  | { readonly match: "exact" | "prefix"; readonly value: string }
  | { readonly match: "regex"; readonly expression: RegExp };

/** Rules by server name; null if all servers are allowed. */
export type McpServerAllowlist = ReadonlyMap<string, McpServerRule> | null;

/**
 * Reads `[mcp_servers.NAME.identity]` of requirements.toml, which lists the only allowed MCP servers. `command` and
 * `url` are exact texts, or tables with conditions.
 */
export function readMcpRules(table: Table): McpServerAllowlist {
  const servers = subtable(table, "mcp_servers");
  if (servers === undefined) return null;
  return new Map(
    Object.keys(servers).map((name) => [name, readRule(subtable(servers, name, "mcp_servers.")!, name)]),
  );
}

function readRule(server: Table, name: string): McpServerRule {
  const at = `mcp_servers.${name}.identity.`;
  const identity = subtable(server, "identity", `mcp_servers.${name}.`);
  if (identity === undefined) throw new ConfigError(`mcp_servers.${name}.identity is required`);
  const { command, url } = identity;
  if ((command === undefined) === (url === undefined))
    throw new ConfigError(`${at}command, or ${at}url, is required`);
  if (command === undefined) {
    const value = isTable(url) ? readValue(url, `${at}url.`) : exactly(identity, "url", at);
    return { identity, kind: "url", url: value };
  }
  if (!isTable(command))
    return { identity, kind: "command", executable: text(identity, "command", at)!, args: null };
  const executable = text(command, "executable", `${at}command.`);
  if (executable === undefined) throw new ConfigError(`${at}command.executable is required`);
  const { args } = command;
  if (!Array.isArray(args) || !args.every(isTable))
    throw new ConfigError(`${at}command.args: expected a list of tables with \`match\``);
  const rules = args.map((one, nth) => readValue(one, `${at}command.args[${nth}].`));
  return { identity, kind: "command", executable, args: rules };
}

function exactly(table: Table, key: string, at: string): ValueRule {
  return { match: "exact", value: text(table, key, at)! };
}

function readValue(table: Table, at: string): ValueRule {
  const match = oneOf(table, "match", ["exact", "prefix", "regex"], at);
  if (match === undefined) throw new ConfigError(`${at}match is required`);
  const key = match === "regex" ? "expression" : "value";
  const value = text(table, key, at);
  if (value === undefined) throw new ConfigError(`${at}${key} is required`);
  if (match !== "regex") return { match, value };
  try {
    return { match, expression: new RegExp(`^(?:${value})$`, "su") };
  } catch (cause) {
    throw new ConfigError(`${at}expression is no regular expression: ${(cause as Error).message}`, { cause });
  }
}

/** Whether a server may run. A disabled server is always allowed. */
export function allowsServer(
  rules: McpServerAllowlist,
  { name, enabled, transport }: McpServerSettings,
): boolean {
  if (rules === null || !enabled) return true;
  const rule = rules.get(name);
  switch (rule?.kind) {
    case undefined:
      return false;
    case "url":
      return transport.kind === "http" && matches(rule.url, transport.url);
    case "command":
      return (
        transport.kind === "stdio" &&
        transport.command === rule.executable &&
        (rule.args === null || areAll(rule.args, transport.args))
      );
  }
}

function areAll(rules: readonly ValueRule[], args: readonly string[]): boolean {
  return rules.length === args.length && rules.every((rule, nth) => matches(rule, args[nth]!));
}

function matches(rule: ValueRule, value: string): boolean {
  switch (rule.match) {
    case "exact":
      return value === rule.value;
    case "prefix":
      return value.startsWith(rule.value);
    case "regex":
      return rule.expression.test(value);
  }
}

interface FoundServers {
  readonly servers: readonly McpServerSettings[];
  /** Messages about ignored servers. */
  readonly problems: readonly string[];
}

/** Removes the servers that are not allowed, and adds a message about each. */
export function allowedServers<T extends FoundServers>(rules: McpServerAllowlist, found: T): T {
  if (rules === null) return found;
  const isAllowed = (server: McpServerSettings): boolean => allowsServer(rules, server);
  const refused = found.servers.filter((server) => !isAllowed(server));
  if (refused.length === 0) return found;
  const words = refused.map(({ name }) => `mcp_servers.${name} is not allowed by requirements.toml`);
  return { ...found, servers: found.servers.filter(isAllowed), problems: [...found.problems, ...words] };
}
