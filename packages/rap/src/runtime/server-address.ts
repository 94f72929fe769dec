/** The URL of a tool server, and the headers that every request to it carries. */
export interface ServerAddress {
  /** The server's name in the host's configuration. */
  readonly name: string;
  /** Base URL. */
  readonly url: string;
  /** Credentials. They are sent only to the origin of `url` and to `allowedOrigins`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Further origins that belong to the server, besides the origin of `url`. */
  readonly allowedOrigins: readonly string[];
}

/**
 * Whether a URL that a tool server named (an endpoint, a redirect) is at one of the server's own origins. The host
 * sends no request to any other origin, so that a tool server cannot direct it elsewhere.
 *
 * @example
 * isOwnUrl({ name: "dice", url: "https://dice.example.com", headers: {}, allowedOrigins: [] }, toolset.endpoint);
 */
export function isOwnUrl({ url, allowedOrigins }: ServerAddress, address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { origin, protocol, username, password } = new URL(address);
  if (!/^https?:$/.test(protocol) || username !== "" || password !== "") return false;
  return [url, ...allowedOrigins].some((own) => URL.canParse(own) && new URL(own).origin === origin);
}

/**
 * Whether requests to the server travel unencrypted over a network: plain `http:` to another machine.
 *
 * @example
 * if (isUnencrypted(server)) log.warn(`${server.name}: credentials are sent without TLS`);
 */
export function isUnencrypted({ url }: ServerAddress): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !/^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
