import { type DomainRule, type HostRules, plainHost } from "../sandbox/network/host-rules.ts";
import { ConfigError } from "./bad-config-error.ts";
import { flag, oneOf, subtable, type Table } from "./table-reader.ts";

/** Keys of the Codex CLI's network proxy that this host does not need. */
const IGNORED = [
  "proxy_url",
  "socks_url",
  "enable_socks5_udp",
  "allow_upstream_proxy",
  "allow_local_binding",
  "dangerously_allow_non_loopback_proxy",
  "dangerously_allow_all_unix_sockets",
  "unix_sockets",
];
const KEYS = ["enabled", "enable_socks5", "mode", "domains", ...IGNORED];
const MAX_DOMAINS = 1000;

/**
 * Reads `network` of a permission profile. If `domains` is present, even as an empty table, access is decided per
 * network host.
 */
export function readNetwork(table: Table, at: string): boolean | HostRules {
  const hosts = readHosts(table, at);
  if (flag(table, "enabled", at) !== true) return false;
  return table["domains"] === undefined ? true : hosts;
}

/**
 * Reads `features.network_proxy`, which limits every command with network access to certain network hosts. Null if it
 * is off.
 */
export function readNetworkProxy(table: Table): HostRules | null {
  const features = subtable(table, "features") ?? {};
  const value = features["network_proxy"];
  if (value === undefined || value === false) return null;
  if (value === true) return { domains: [], socks: true };
  const at = "features.network_proxy.";
  const proxy = subtable(features, "network_proxy", "features.") ?? {};
  const hosts = readHosts(proxy, at);
  return flag(proxy, "enabled", at) === true ? hosts : null;
}

function readHosts(table: Table, at: string): HostRules {
  const wrong = Object.keys(table).find((key) => !KEYS.includes(key));
  // Unknown keys are errors: ignoring one could allow what its author meant to deny.
  if (wrong !== undefined)
    throw new ConfigError(`${at}${wrong} is unknown; expected one of ${KEYS.join(", ")}`);
  if (oneOf(table, "mode", ["full", "limited"], at) === "limited")
    throw new ConfigError(
      `${at}mode = "limited" is not supported: requests inside of TLS cannot be distinguished; use "full"`,
    );
  const entries = Object.entries(subtable(table, "domains", at) ?? {});
  if (entries.length > MAX_DOMAINS)
    throw new ConfigError(`${at}domains has ${entries.length} entries; at most ${MAX_DOMAINS} are allowed`);
  return {
    domains: entries.map(([pattern, access]) => domainRule(pattern, access, `${at}domains`)),
    socks: flag(table, "enable_socks5", at) ?? true,
  };
}

/** Reads one entry of a `domains` table. */
export function domainRule(pattern: string, access: unknown, at: string): DomainRule {
  if (access !== "allow" && access !== "deny")
    throw new ConfigError(`${at}: ${JSON.stringify(pattern)} has to be "allow" or "deny"`);
  const [, stars = "", name = ""] = /^(\*{1,2}\.)?(.*)$/s.exec(pattern)!;
  const host = name.includes("*") ? null : plainHost(name);
  if (host === null)
    throw new ConfigError(
      `${at}: ${JSON.stringify(pattern)} is neither a host nor a pattern such as "*.example.org"`,
    );
  return { pattern: stars + host, access };
}
