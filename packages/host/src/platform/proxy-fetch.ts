import { readFile } from "node:fs/promises";
import { createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import { EnvHttpProxyAgent, Pool, fetch as send } from "undici";
import type { Http, HttpRequest } from "./platform.ts";
import { isLoopback, type ProxySettings } from "./proxy-settings.ts";

/** A request that must not be sent twice uses no connection that has been idle for longer than this. */
const SINGLE_IDLE_MS = 1000;

export interface ProxiedFetch {
  readonly fetch: typeof globalThis.fetch;
  readonly http: Http;
}

/**
 * `fetch` through the proxies of the environment, trusting additional certificates. Throws if a proxy address or the
 * certificates are invalid.
 */
export async function proxiedFetch(settings: ProxySettings): Promise<ProxiedFetch> {
  checkAddress("HTTP_PROXY", settings.httpProxy);
  checkAddress("HTTPS_PROXY", settings.httpsProxy);
  const tls = await readCertificates(settings.certFile);
  const usual = fetchWith(settings, tls);
  const unrepeated = fetchWith(settings, tls, SINGLE_IDLE_MS);
  return {
    fetch: usual,
    http: (url, { single, ...request }) => {
      const [address, headers] = withoutUser(url, request.headers);
      return (single === true ? unrepeated : usual)(address, { ...request, headers });
    },
  };
}

/**
 * Moves a user and password from the URL into a header: `fetch` refuses such URLs and repeats the password in its
 * error.
 */
function withoutUser(url: URL, headers: HttpRequest["headers"]): [URL, HttpRequest["headers"]] {
  if (url.username === "" && url.password === "") return [url, headers];
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const address = new URL(url);
  address.username = "";
  address.password = "";
  return [address, { authorization: `Basic ${Buffer.from(user).toString("base64")}`, ...headers }];
}

function fetchWith(settings: ProxySettings, tls: TlsOptions, idleMs?: number): typeof globalThis.fetch {
  const proxied = agentOf(settings, tls, idleMs);
  const direct = agentOf({ httpProxy: undefined, httpsProxy: undefined, noProxy: "" }, tls, idleMs);
  const sendVia = (input: Parameters<typeof globalThis.fetch>[0], init?: object) => {
    const { hostname } = new URL(input instanceof Request ? input.url : input);
    return send(input as string, { ...init, dispatcher: isLoopback(hostname) ? direct : proxied });
  };
  // undici has its own, equal types of `fetch`.
  return sendVia as unknown as typeof globalThis.fetch;
}

/** The error does not repeat the address, which may contain a password. */
function checkAddress(name: string, proxy: string | undefined): void {
  if (proxy === undefined) return;
  if (URL.canParse(proxy) && /^(https?|socks5?):$/.test(new URL(proxy).protocol)) return;
  throw new Error(`${name} is not the address of a proxy; expected one like http://HOST:PORT`);
}

interface TlsOptions {
  /** Created once: parsing all certificates takes longer than a TLS handshake. */
  readonly secureContext?: SecureContext;
}

async function readCertificates(file: string | undefined): Promise<TlsOptions> {
  if (file === undefined) return {};
  try {
    return {
      secureContext: createSecureContext({ ca: [...rootCertificates, await readFile(file, "utf8")] }),
    };
  } catch (cause) {
    const why = (cause as Error).message;
    throw new Error(`the certificates of SSL_CERT_FILE cannot be read: ${why}`, { cause });
  }
}

function agentOf(
  { httpProxy, httpsProxy, noProxy }: Omit<ProxySettings, "certFile">,
  tls: TlsOptions,
  idleMs: number | undefined,
): EnvHttpProxyAgent {
  const idle = idleMs === undefined ? {} : { keepAliveTimeout: idleMs, keepAliveMaxTimeout: idleMs };
  return new EnvHttpProxyAgent({
    // An empty string, because undici reads the environment for undefined.
    httpProxy: httpProxy ?? "",
    httpsProxy: httpsProxy ?? "",
    noProxy,
    // Plain HTTP is not tunnelled: many proxies allow CONNECT to the TLS port only.
    proxyTunnel: false,
    connect: tls,
    requestTls: tls,
    proxyTls: tls,
    // No timeouts here: the request's signal enforces them.
    factory: (origin, options) =>
      new Pool(origin, { ...(options as Pool.Options), ...idle, headersTimeout: 0, bodyTimeout: 0 }),
  });
}
