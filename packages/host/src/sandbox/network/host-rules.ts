import { addressBytes, isSameAddress } from "./ip-addresses.ts";

/** The network hosts that commands may connect to without approval, and those that are always denied. */
export interface HostRules {
  readonly domains: readonly DomainRule[];
  readonly socks: boolean;
  /** Whether network hosts that are not listed are denied without a question. */
  readonly onlyListed?: boolean;
}

/** Allows or denies the network hosts that match a pattern. */
export interface DomainRule {
  /** A host name; `*.example.org` matches its subdomains, `**.example.org` also the domain itself. */
  readonly pattern: string;
  readonly access: "allow" | "deny";
}

/**
 * Normalizes a network host: lower case, no trailing dot, an IP address in its canonical notation. Null for anything
 * that is neither a name nor an address.
 */
export function plainHost(host: string): string | null {
  // These characters would end the host part of a URL.
  if (/[\s/?#@\\]/.test(host)) return null;
  const isBare = host.includes(":") && !host.startsWith("[");
  try {
    // The URL parser accepts the same notations of addresses as programs do: decimal, octal and hexadecimal.
    const { hostname } = new URL(`http://${isBare ? `[${host}]` : host}/`);
    const plain = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
    const isName = plain.length <= 253 && /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_-]+)*$/.test(plain);
    return isName || addressBytes(plain) !== null ? plain : null;
  } catch {
    return null;
  }
}

/**
 * The access that the rules give to a network host; null if no rule matches. `deny` takes precedence over `allow`.
 * With `onlyListed`, hosts without a matching rule are denied.
 */
export function accessTo({ domains, onlyListed }: HostRules, host: string): "allow" | "deny" | null {
  const matching = domains.filter(({ pattern }) => matches(pattern, host));
  if (matching.some(({ access }) => access === "deny")) return "deny";
  if (matching.length > 0) return "allow";
  return onlyListed === true ? "deny" : null;
}

/** Whether a network host is allowed by a rule for exactly this host, not by a pattern. */
export function isListed({ domains }: HostRules, host: string): boolean {
  return domains.some(
    ({ pattern, access }) => access === "allow" && (pattern === host || isSameAddress(pattern, host)),
  );
}

/** Whether a name always means this machine. */
export function isLocalName(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

function matches(pattern: string, host: string): boolean {
  if (pattern.startsWith("**.")) return host === pattern.slice(3) || host.endsWith(pattern.slice(2));
  if (pattern.startsWith("*.")) return host.endsWith(pattern.slice(1));
  return pattern === host || isSameAddress(pattern, host);
}
