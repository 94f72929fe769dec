/** Where a tool server is, and what it is sent with every request. */
export interface ServerAddress {
  /** As the host's configuration calls it. */
  readonly name: string;
  /** The base URL. */
  readonly url: string;
  /** Credentials. They go to the server's own origins and to no other. */
  readonly headers: Readonly<Record<string, string>>;
  /** Origins that are the server's own beside that of its base URL. */
  readonly allowedOrigins: readonly string[];
}

/**
 * Whether an address that a tool server named is one of its own. Nothing is sent anywhere else on its word.
 *
 * @example
 * isOwn(server, toolset.endpoint);
 */
export function isOwn({ url, allowedOrigins }: ServerAddress, address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { origin, protocol, username, password } = new URL(address);
  if (!/^https?:$/.test(protocol) || username !== "" || password !== "") return false;
  return [url, ...allowedOrigins].some((own) => URL.canParse(own) && new URL(own).origin === origin);
}

/** Whether what is sent there can be read by others on the way. */
export function isOpenLine({ url }: ServerAddress): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !/^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
