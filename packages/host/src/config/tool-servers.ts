import type { RapSettings, ThreadToolServers, ToolServerSettings } from "../tool/rap/rap-settings.ts";
import { ConfigError } from "./bad-config-error.ts";
import { list, oneOf, subtable, type Table, text, textTable, wholeWithin } from "./table-reader.ts";

/** Limit on deadlines: ten years, so that every deadline is a valid date. */
const MAX_DEADLINE_SECS = 10 * 366 * 24 * 3600;

/** Reads `[rap]` and `[rap_servers.*]`. */
export function readRap(table: Table): RapSettings {
  const rap = subtable(table, "rap") ?? {};
  const publicUrl = text(rap, "callback_public_url", "rap.");
  const deadline = wholeWithin(rap, "call_deadline_secs", 1, MAX_DEADLINE_SECS, "rap.") ?? null;
  return {
    callbackListen: place(text(rap, "callback_listen", "rap.") ?? "127.0.0.1:0"),
    callbackPublicUrl: publicUrl === undefined ? null : httpAddress(publicUrl, "rap.callback_public_url"),
    servers: Object.keys(subtable(table, "rap_servers") ?? {}).map((name) =>
      server(
        name,
        subtable(table.rap_servers as Table, name, "rap_servers.")!,
        `rap_servers.${name}.`,
        deadline,
      ),
    ),
  };
}

/**
 * Merges the host's tool servers with a thread's `toolServers`. In `toolServers`, `false` removes a server, and a
 * table with the keys of config.toml adds or replaces one.
 */
export function threadToolServers(
  { servers }: RapSettings,
  entries: Readonly<Record<string, unknown>> | null | undefined,
  /** Whether the thread may use a server that it adds. */
  mayUse: (server: ToolServerSettings) => boolean = () => true,
): ThreadToolServers {
  if (entries == null) return { used: servers, notified: servers };
  const brought = ownToolServers(entries);
  const own = brought.filter(mayUse);
  const replaced = (name: string): boolean => brought.some((one) => one.name === name);
  const left = ({ name }: ToolServerSettings): boolean => entries[name] === false || entries[name] === null;
  const remaining = servers.filter((one) => !left(one) && !replaced(one.name));
  // A server whose URL the thread configures itself gets calls and notices with the thread's credentials, not with
  // the host's.
  const others = servers.filter((one) => remaining.includes(one) || !own.some(({ url }) => url === one.url));
  const known = new Set(others.map(access));
  return {
    used: [...remaining, ...own],
    notified: [...others, ...own.filter((one) => !known.has(access(one)))],
  };
}

/** Reads the servers that a thread's `toolServers` adds. */
export function ownToolServers(
  entries: Readonly<Record<string, unknown>> | null | undefined,
): readonly ToolServerSettings[] {
  const own: ToolServerSettings[] = [];
  for (const [name, value] of Object.entries(entries ?? {})) {
    if (value === false || value === null || value === true) continue;
    const at = `toolServers.${name}.`;
    const table = subtable(entries!, name, "toolServers.")!;
    // Refused, because a client could read variables of the host's environment through this key.
    if (table.bearer_token_env_var !== undefined)
      throw new ConfigError(`${at}bearer_token_env_var: only config.toml can name one; use headers`);
    const settings = server(name, table, at, null);
    const taken = Object.keys(settings.headers).find((header) => CONNECTION_HEADERS.has(header));
    if (taken !== undefined) throw new ConfigError(`${at}headers.${taken}: this header cannot be set`);
    own.push(settings);
  }
  return own;
}

/**
 * Headers that control the connection or the end of a request. With them, a thread could reach another server than
 * the one at its URL.
 */
const CONNECTION_HEADERS = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "upgrade",
  "te",
]);

/** The identity of a server: servers with the same URL and credentials are the same, whatever their names. */
function access({ url, headers: configuredHeaders, bearerTokenEnvVar }: ToolServerSettings): string {
  return JSON.stringify([url, configuredHeaders, bearerTokenEnvVar]);
}

/** Limit on the length of a tool server's name, which becomes part of URLs and file names. */
const LONGEST_NAME = 128;

function server(name: string, entry: Table, at: string, deadline: number | null): ToolServerSettings {
  if (name === "" || name.length > LONGEST_NAME || /\p{Cc}/u.test(name))
    throw new ConfigError(
      `${JSON.stringify(at.slice(0, 200))}: the name of a tool server has 1 to ${LONGEST_NAME} characters, and no control characters`,
    );
  const url = text(entry, "url", at);
  if (url === undefined) throw new ConfigError(`${at}url is required`);
  return {
    name,
    url: address(url, `${at}url`),
    bearerTokenEnvVar: text(entry, "bearer_token_env_var", at) ?? null,
    headers: headerTable(entry, "headers", at),
    allowedOrigins: origins(entry, at),
    approval: oneOf(entry, "approval", ["destructive", "always"], at) ?? "destructive",
    callDeadlineSecs: wholeWithin(entry, "call_deadline_secs", 1, MAX_DEADLINE_SECS, at) ?? deadline,
  };
}

/** Reads a table of HTTP headers. The names become lower case. */
export function headerTable(entry: Table, key: string, at: string): Readonly<Record<string, string>> {
  const headerTexts = textTable(entry, key, at);
  for (const [name, value] of Object.entries(headerTexts)) {
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw new ConfigError(`${at}${key}.${name}: not a valid HTTP header`);
  }
  return Object.fromEntries(Object.entries(headerTexts).map(([name, value]) => [name.toLowerCase(), value]));
}

function origins(entry: Table, at: string): readonly string[] {
  const origins = list(entry, "allowed_origins", at) ?? [];
  return origins.map((one) => new URL(address(one, `${at}allowed_origins`)).origin);
}

/** Checks a URL to which paths are appended. */
export function httpAddress(url: string, key: string): string {
  if (/[?#]/.test(url))
    throw new ConfigError(`${key}: expected an address without ? and #, found ${JSON.stringify(url)}`);
  return address(url, key);
}

export function address(url: string, key: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw new ConfigError(`${key}: expected an http:// or https:// address, found ${JSON.stringify(url)}`);
  if (parsed.username !== "" || parsed.password !== "")
    throw new ConfigError(`${key}: credentials do not belong into an address`);
  return url;
}

/** Parses `IP:PORT`. */
function place(address: string): RapSettings["callbackListen"] {
  const found = /^(\[[0-9a-f:.]+\]|[\w.-]+):(\d{1,5})$/i.exec(address);
  const port = Number(found?.[2]);
  if (found === null || port > 65_535)
    throw new ConfigError(
      `rap.callback_listen: expected an address like 127.0.0.1:0, found ${JSON.stringify(address)}`,
    );
  return { host: found[1]!.replace(/^\[(.*)\]$/, "$1"), port };
}
