import { accessTo, type DomainRule, type HostRules } from "../sandbox/network/host-rules.ts";
import type { PermissionProfile } from "../sandbox/permission-profile.ts";
import { ConfigError } from "./bad-config-error.ts";
import { domainRule } from "./network-hosts.ts";
import { flag, list, subtable, type Table } from "./table-reader.ts";

/** Requirements on the network access of sandboxed commands. */
export interface NetworkRestrictions {
  /** Null if the file does not set it. */
  readonly enabled: boolean | null;
  readonly domains: readonly DomainRule[];
  /**
   * Whether network hosts without an "allow" rule here are refused, whatever the user configures or answers. Null if
   * the file does not set it.
   */
  readonly onlyManaged: boolean | null;
}

/** Keys of the Codex CLI that configure its own proxy, or that have no counterpart in this host. */
const NOT_ENFORCED = [
  "http_port",
  "socks_port",
  "allow_upstream_proxy",
  "dangerously_allow_non_loopback_proxy",
  "dangerously_allow_all_unix_sockets",
  "unix_sockets",
  "allow_unix_sockets",
  "allow_local_binding",
  "review_domains",
];
const AT = "experimental_network.";

/** Reads `[experimental_network]` of requirements.toml; null if the table is missing. */
export function readNetworkRules(table: Table): NetworkRestrictions | null {
  const network = subtable(table, "experimental_network");
  if (network === undefined) return null;
  const patterns = subtable(network, "domains", AT);
  const allowed = list(network, "allowed_domains", AT);
  const denied = list(network, "denied_domains", AT);
  if (patterns !== undefined && (allowed ?? denied) !== undefined)
    throw new ConfigError(`${AT}domains cannot be set beside ${AT}allowed_domains and ${AT}denied_domains`);
  const pairs: readonly [string, unknown][] = [
    ...Object.entries(patterns ?? {}),
    ...(allowed ?? []).map((host): [string, unknown] => [host, "allow"]),
    ...(denied ?? []).map((host): [string, unknown] => [host, "deny"]),
  ];
  return {
    enabled: flag(network, "enabled", AT) ?? null,
    domains: pairs.map(([pattern, access]) => domainRule(pattern, access, `${AT}domains`)),
    onlyManaged: flag(network, "managed_allowed_domains_only", AT) ?? null,
  };
}

/** Keys of `[experimental_network]` that this host does not enforce. */
export function ignoredNetworkKeys(table: Table): readonly string[] {
  const known = ["enabled", "domains", "allowed_domains", "denied_domains", "managed_allowed_domains_only"];
  const network = subtable(table, "experimental_network") ?? {};
  const wrong = Object.keys(network).find((key) => !known.includes(key) && !NOT_ENFORCED.includes(key));
  // Unknown keys are errors: ignoring one could allow what its author meant to deny.
  if (wrong !== undefined) throw new ConfigError(`${AT}${wrong} is unknown`);
  return Object.keys(network)
    .filter((key) => NOT_ENFORCED.includes(key))
    .map((key) => AT + key);
}

interface ConfiguredNetwork {
  readonly networkProxy: HostRules | null;
  readonly permissionProfiles: ReadonlyMap<string, PermissionProfile>;
}

/**
 * Applies the required rules to the configured network access. Every sandboxed command is then limited to certain
 * network hosts.
 */
export function withinNetworkRules<T extends ConfiguredNetwork>(
  config: T,
  rules: NetworkRestrictions | null,
): T {
  if (rules === null || rules.enabled === false) return config;
  const { networkProxy, permissionProfiles } = config;
  const profiles = [...permissionProfiles].map(([id, profile]): [string, PermissionProfile] => {
    const { network } = profile;
    // A profile with access to all network hosts gets the rules of `networkProxy`.
    return [id, typeof network === "object" ? { ...profile, network: within(network, rules) } : profile];
  });
  return {
    ...config,
    networkProxy: within(networkProxy ?? { domains: [], socks: true }, rules),
    permissionProfiles: new Map(profiles),
  };
}

/** Whether the user may allow the network hosts of a pattern. */
export function mayAllow({ domains, onlyManaged }: NetworkRestrictions, pattern: string): boolean {
  const listed = accessTo({ domains, socks: true }, pattern.replace(/^\*{1,2}\./, ""));
  return listed === "allow" || (listed === null && onlyManaged !== true);
}

/** Patterns that the user's configuration allows and the requirements deny. */
export function hostsNotAllowed(
  hosts: HostRules | null,
  rules: NetworkRestrictions | null,
): readonly string[] {
  if (hosts === null || rules === null || rules.enabled === false) return [];
  const allowed = hosts.domains.filter(({ access }) => access === "allow").map(({ pattern }) => pattern);
  return allowed.filter((pattern) => !mayAllow(rules, pattern));
}

function within(hosts: HostRules, { domains, onlyManaged }: NetworkRestrictions): HostRules {
  if (onlyManaged !== true) return { ...hosts, domains: [...domains, ...hosts.domains] };
  const denied = hosts.domains.filter(({ access }) => access === "deny");
  return { ...hosts, domains: [...domains, ...denied], onlyListed: true };
}
