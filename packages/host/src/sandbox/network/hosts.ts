import { addressBytes, isSameAddress } from "./addresses.ts";

/** Which hosts commands may connect to without a question, and which never. */
export interface HostRules {
  readonly domains: readonly DomainRule[];
  readonly socks: boolean;
}

export interface DomainRule {
  /** A host; `*.example.org` for those below it, `**.example.org` for it and those below it. */
  readonly pattern: string;
  readonly access: "allow" | "deny";
}

/**
 * A host in its one usual spelling: lower case, no dot at its end, an address as its bytes say it. Null for what is
 * neither a name nor an address.
 */
export function plainHost(host: string): string | null {
  // These would end the host within an address.
  if (/[\s/?#@\\]/.test(host)) return null;
  const isBare = host.includes(":") && !host.startsWith("[");
  try {
    // The parser of URLs reads addresses as programs do: decimal, octal and hexadecimal ones, too.
    const { hostname } = new URL(`http://${isBare ? `[${host}]` : host}/`);
    const plain = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
    const isName = plain.length <= 253 && /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_-]+)*$/.test(plain);
    return isName || addressBytes(plain) !== null ? plain : null;
  } catch {
    return null;
  }
}

/** What the rules say about a host. What is denied is never allowed. */
export function accessTo({ domains }: HostRules, host: string): "allow" | "deny" | null {
  const matching = domains.filter(({ pattern }) => matches(pattern, host));
  if (matching.some(({ access }) => access === "deny")) return "deny";
  return matching.length > 0 ? "allow" : null;
}

/** Whether a host itself is listed as allowed, and not by a pattern. */
export function isListed({ domains }: HostRules, host: string): boolean {
  return domains.some(
    ({ pattern, access }) => access === "allow" && (pattern === host || isSameAddress(pattern, host)),
  );
}

/** Names that stand for this machine wherever they are looked up. */
export function isLocalName(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

function matches(pattern: string, host: string): boolean {
  if (pattern.startsWith("**.")) return host === pattern.slice(3) || host.endsWith(pattern.slice(2));
  if (pattern.startsWith("*.")) return host.endsWith(pattern.slice(1));
  return pattern === host || isSameAddress(pattern, host);
}
