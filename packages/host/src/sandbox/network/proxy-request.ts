import { plainHost } from "./host-rules.ts";

export type ProxyProtocol = "http" | "https" | "socks5Tcp";

/** The network host and port that a program wants to connect to. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly protocol: ProxyProtocol;
}

/** A parsed request to the proxy; `forward` is sent to the target before all following bytes. */
export type ProxyRequest =
  | { readonly kind: "target"; readonly target: Target; readonly forward: string | null }
  | { readonly kind: "bad"; readonly words: string };

const AUTHORITY = /^(\[[0-9a-fA-F:.]+\]|[^\s:[\]/?#@\\]+):(\d{1,5})$/;
/** Headers that are meant for the proxy, or set by it. */
const HOP_HEADERS = /^(proxy-[^:]*|connection|keep-alive|host)$/i;

/** Parses the head of a request, without the empty line at its end. */
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
  const forwarded = lines.filter((line) => !HOP_HEADERS.test(line.slice(0, line.indexOf(":"))));
  // Only one request per connection, because the next one could be for another network host.
  const forward = [
    `${method} ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    ...forwarded,
    "Connection: close",
  ];
  return { kind: "target", target, forward: `${forward.join("\r\n")}\r\n\r\n` };
}

function authority(text: string, protocol: ProxyProtocol): Target | null {
  const [, host, port] = AUTHORITY.exec(text) ?? [];
  return host === undefined ? null : targetOf(host, Number(port), protocol);
}

/** The target for a network host and port; null if either is invalid. */
export function targetOf(host: string, port: number, protocol: ProxyProtocol): Target | null {
  const plain = plainHost(host);
  return plain === null || port < 1 || port > 65_535 ? null : { host: plain, port, protocol };
}

function bad(words: string): ProxyRequest {
  return { kind: "bad", words };
}
