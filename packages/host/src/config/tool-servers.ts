import type { RapSettings, ThreadServers, ToolServerSettings } from "../tool/rap/settings.ts";
import { ConfigError } from "./config-error.ts";
import { list, oneOf, subtable, type Table, text, texts, wholeWithin } from "./table.ts";

/** Ten years: deadlines are times that a date can name. */
const MAX_DEADLINE_SECS = 10 * 366 * 24 * 3600;

/** `[rap]` and `[rap_servers.*]`. */
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
 * What a thread has of them: `given` is its own `toolServers`, in which `false` leaves one out and a table, with the
 * keys of config.toml, adds one or takes the place of one.
 */
export function threadServers(
  { servers }: RapSettings,
  given: Readonly<Record<string, unknown>> | null | undefined,
  /** Which of its own it may use. */
  mayUse: (server: ToolServerSettings) => boolean = () => true,
): ThreadServers {
  if (given == null) return { used: servers, told: servers };
  const brought = serversOfThread(given);
  const own = brought.filter(mayUse);
  const replaced = (name: string): boolean => brought.some((one) => one.name === name);
  const left = ({ name }: ToolServerSettings): boolean => given[name] === false || given[name] === null;
  const kept = servers.filter((one) => !left(one) && !replaced(one.name));
  // Whoever has an address from the thread is called, and so told, with the thread's credentials.
  const others = servers.filter((one) => kept.includes(one) || !own.some(({ url }) => url === one.url));
  const known = new Set(others.map(access));
  return { used: [...kept, ...own], told: [...others, ...own.filter((one) => !known.has(access(one)))] };
}

/** The servers that a thread's `toolServers` brings along. */
export function serversOfThread(
  given: Readonly<Record<string, unknown>> | null | undefined,
): readonly ToolServerSettings[] {
  const own: ToolServerSettings[] = [];
  for (const [name, value] of Object.entries(given ?? {})) {
    if (value === false || value === null || value === true) continue;
    const at = `toolServers.${name}.`;
    const table = subtable(given!, name, "toolServers.")!;
    // Whoever may start a thread may not read the host's environment by it.
    if (table.bearer_token_env_var !== undefined)
      throw new ConfigError(`${at}bearer_token_env_var: only config.toml can name one; use headers`);
    const settings = server(name, table, at, null);
    const taken = Object.keys(settings.headers).find((header) => CONNECTION_HEADERS.has(header));
    if (taken !== undefined) throw new ConfigError(`${at}headers.${taken}: this header cannot be set`);
    own.push(settings);
  }
  return own;
}

/** These decide which server gets a request, and where it ends: by an address, more than that address would be reached. */
const CONNECTION_HEADERS = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "upgrade",
  "te",
]);

/** Two that are the same are one server, by whatever names. */
function access({ url, headers: given, bearerTokenEnvVar }: ToolServerSettings): string {
  return JSON.stringify([url, given, bearerTokenEnvVar]);
}

/** It stands in addresses and in names of files. */
const LONGEST_NAME = 128;

function server(name: string, entry: Table, at: string, deadline: number | null): ToolServerSettings {
  if (name === "" || name.length > LONGEST_NAME || /\p{Cc}/u.test(name))
    throw new ConfigError(
      `${JSON.stringify(at.slice(0, 200))}: the name of a tool server has 1 to ${LONGEST_NAME} characters, and no control characters`,
    );
  const url = text(entry, "url", at);
  if (url === undefined) throw new ConfigError(`${at}url: it has to be there`);
  return {
    name,
    url: address(url, `${at}url`),
    bearerTokenEnvVar: text(entry, "bearer_token_env_var", at) ?? null,
    headers: headers(entry, at),
    allowedOrigins: origins(entry, at),
    approval: oneOf(entry, "approval", ["destructive", "always"], at) ?? "destructive",
    callDeadlineSecs: wholeWithin(entry, "call_deadline_secs", 1, MAX_DEADLINE_SECS, at) ?? deadline,
  };
}

function headers(entry: Table, at: string): Readonly<Record<string, string>> {
  const given = texts(entry, "headers", at);
  for (const [name, value] of Object.entries(given)) {
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw new ConfigError(`${at}headers.${name}: it is no header`);
  }
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
}

function origins(entry: Table, at: string): readonly string[] {
  const given = list(entry, "allowed_origins", at) ?? [];
  return given.map((one) => new URL(address(one, `${at}allowed_origins`)).origin);
}

/** Paths are put behind it. */
export function httpAddress(url: string, key: string): string {
  if (/[?#]/.test(url))
    throw new ConfigError(`${key}: expected an address without ? and #, found ${JSON.stringify(url)}`);
  return address(url, key);
}

function address(url: string, key: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw new ConfigError(`${key}: expected an http:// or https:// address, found ${JSON.stringify(url)}`);
  if (parsed.username !== "" || parsed.password !== "")
    throw new ConfigError(`${key}: credentials do not belong into an address`);
  return url;
}

/** `IP:PORT`, as listeners take it. */
function place(given: string): RapSettings["callbackListen"] {
  const found = /^(\[[0-9a-f:.]+\]|[\w.-]+):(\d{1,5})$/i.exec(given);
  const port = Number(found?.[2]);
  if (found === null || port > 65_535)
    throw new ConfigError(
      `rap.callback_listen: expected an address like 127.0.0.1:0, found ${JSON.stringify(given)}`,
    );
  return { host: found[1]!.replace(/^\[(.*)\]$/, "$1"), port };
}
