import { type DomainRule, type HostRules, plainHost } from "../sandbox/network/hosts.ts";
import { ConfigError } from "./config-error.ts";
import { flag, oneOf, subtable, type Table } from "./table.ts";

/** Keys of the Codex CLI's proxy; what they set up, ours has no need of. */
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

/** `network` of a profile. With `domains`, even without one in it, hosts are told apart. */
export function readNetwork(table: Table, at: string): boolean | HostRules {
  const hosts = readHosts(table, at);
  if (flag(table, "enabled", at) !== true) return false;
  return table["domains"] === undefined ? true : hosts;
}

/** `features.network_proxy`: all that has the network has it by host. Null where that is off. */
export function readNetworkProxy(table: Table): HostRules | null {
  const features = subtable(table, "features") ?? {};
  const given = features["network_proxy"];
  if (given === undefined || given === false) return null;
  if (given === true) return { domains: [], socks: true };
  const at = "features.network_proxy.";
  const proxy = subtable(features, "network_proxy", "features.") ?? {};
  const hosts = readHosts(proxy, at);
  return flag(proxy, "enabled", at) === true ? hosts : null;
}

function readHosts(table: Table, at: string): HostRules {
  const wrong = Object.keys(table).find((key) => !KEYS.includes(key));
  // Who wrote it may have meant to forbid something.
  if (wrong !== undefined)
    throw new ConfigError(`${at}${wrong} is unknown; expected one of ${KEYS.join(", ")}`);
  if (oneOf(table, "mode", ["full", "limited"], at) === "limited")
    throw new ConfigError(
      `${at}mode = "limited" is not supported: requests inside of TLS cannot be told apart; use "full"`,
    );
  const entries = Object.entries(subtable(table, "domains", at) ?? {});
  if (entries.length > MAX_DOMAINS)
    throw new ConfigError(`${at}domains has ${entries.length} entries; at most ${MAX_DOMAINS} are allowed`);
  return {
    domains: entries.map(([pattern, access]) => domainRule(pattern, access, `${at}domains`)),
    socks: flag(table, "enable_socks5", at) ?? true,
  };
}

function domainRule(pattern: string, access: unknown, at: string): DomainRule {
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
