import { plainHost } from "./hosts.ts";

export type ProxyProtocol = "http" | "https" | "socks5Tcp";

/** What a program wants to connect to. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly protocol: ProxyProtocol;
}

/** A request to the proxy, as it was read; `forward` goes to the target in front of all that follows. */
export type ProxyRequest =
  | { readonly kind: "target"; readonly target: Target; readonly forward: string | null }
  | { readonly kind: "bad"; readonly words: string };

const AUTHORITY = /^(\[[0-9a-fA-F:.]+\]|[^\s:[\]/?#@\\]+):(\d{1,5})$/;
/** Meant for the proxy, or decided by it. */
const DROPPED = /^(proxy-[^:]*|connection|keep-alive|host)$/i;

/** Reads the head of a request, without the empty line at its end. */
export function readRequestHead(head: string): ProxyRequest {
  const [first = "", ...lines] = head.split("\r\n");
  const [method, address, version, more] = first.split(" ");
  if (!method || !address || more !== undefined || !/^HTTP\/1\.[01]$/.test(version ?? ""))
    return bad("The request line cannot be read.");
  if (lines.some((line) => !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*$/.test(line)))
    return bad("A header cannot be read.");
  if (method === "CONNECT") {
    const target = authority(address, "https");
    return target === null
      ? bad("CONNECT needs a host and a port.")
      : { kind: "target", target, forward: null };
  }
  return plainRequest(method, address, lines);
}

function plainRequest(method: string, address: string, lines: readonly string[]): ProxyRequest {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return bad("This is a proxy: it needs a whole address, such as http://example.org/.");
  }
  if (url.protocol !== "http:" || url.username !== "" || url.password !== "")
    return bad("Only addresses with http:// and without a password are taken; CONNECT serves the others.");
  const target = targetOf(url.hostname, url.port === "" ? 80 : Number(url.port), "http");
  if (target === null) return bad("The address has no host.");
  const kept = lines.filter((line) => !DROPPED.test(line.slice(0, line.indexOf(":"))));
  // One request per connection: the next one may be for another host.
  const forward = [
    `${method} ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    ...kept,
    "Connection: close",
  ];
  return { kind: "target", target, forward: `${forward.join("\r\n")}\r\n\r\n` };
}

function authority(text: string, protocol: ProxyProtocol): Target | null {
  const [, host, port] = AUTHORITY.exec(text) ?? [];
  return host === undefined ? null : targetOf(host, Number(port), protocol);
}

export function targetOf(host: string, port: number, protocol: ProxyProtocol): Target | null {
  const plain = plainHost(host);
  return plain === null || port < 1 || port > 65_535 ? null : { host: plain, port, protocol };
}

function bad(words: string): ProxyRequest {
  return { kind: "bad", words };
}
