import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether an address, in any notation, can be reached only from this machine. */
export function isLoopbackAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return loopback.check(mapped, "ipv4");
  return loopback.check(address, family === 6 ? "ipv6" : "ipv4");
}

/**
 * Whether a host name always means loopback, independent of DNS: browsers resolve `localhost` and its subdomains
 * themselves.
 */
export function isLoopbackHost(hostname: string): boolean {
  const name = hostname.toLowerCase();
  if (name === "localhost" || name.endsWith(".localhost")) return true;
  return isLoopbackAddress(name.startsWith("[") && name.endsWith("]") ? name.slice(1, -1) : name);
}
