/** Proxy and certificate settings from the environment variables that most programs use. */
export interface ProxySettings {
  /** Proxy for `http://` URLs. */
  readonly httpProxy: string | undefined;
  /** Proxy for `https://` URLs. */
  readonly httpsProxy: string | undefined;
  /** Hosts that are reached directly, in the format of `NO_PROXY`. */
  readonly noProxy: string;
  /** A file with certificates of additional trusted authorities. */
  readonly certFile: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the settings; undefined if no variable is set, so that nothing is loaded for them. */
export function proxySettings(env: Environment): ProxySettings | undefined {
  const value = (name: string): string | undefined => env[name.toLowerCase()] || env[name] || undefined;
  const httpProxy = address(value("HTTP_PROXY"));
  const httpsProxy = address(value("HTTPS_PROXY")) ?? httpProxy;
  const certFile = env["SSL_CERT_FILE"] || undefined;
  if (httpProxy === undefined && httpsProxy === undefined && certFile === undefined) return undefined;
  return { httpProxy, httpsProxy, noProxy: value("NO_PROXY")?.trim() ?? "", certFile };
}

/**
 * Whether a host is this machine, which is never reached through a proxy. IPv6 addresses are in brackets, as in URLs.
 */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/i.test(host);
}

/** Whether a request ignores these settings: it needs neither certificates nor a proxy. */
export function isUnaffected({ httpProxy }: ProxySettings, { protocol, hostname }: URL): boolean {
  return protocol === "http:" && (httpProxy === undefined || isLoopback(hostname));
}

/** Adds the scheme `http://`, which people often omit. */
function address(proxy: string | undefined): string | undefined {
  return proxy === undefined || /^[a-z0-9+]+:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
}
