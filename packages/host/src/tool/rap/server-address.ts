import type { ServerAddress } from "@bobbin/rap/runtime";
import type { RapSettings, ToolServerSettings } from "./rap-settings.ts";

/** A key of a server's whole configuration. Equal configurations give equal keys. */
export function serverKey(settings: ToolServerSettings): string {
  return JSON.stringify(settings);
}

/**
 * The server's label in metrics. All servers that threads bring along share one label, so that the number of labels
 * is bounded.
 */
export function serverLabel({ servers }: RapSettings, name: string): string {
  return servers.some((server) => server.name === name) ? name : "thread";
}

/** A server's URL and headers, with its credentials. */
export function serverAddress(
  { name, url, headers, allowedOrigins, bearerTokenEnvVar }: ToolServerSettings,
  env: Readonly<Record<string, string | undefined>>,
): ServerAddress {
  const token = bearerTokenEnvVar === null ? undefined : env[bearerTokenEnvVar];
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return { name, url, headers: { ...headers, ...authorization }, allowedOrigins };
}

/** Warnings about a server's configuration. */
export function* configProblems(
  { name, bearerTokenEnvVar }: ToolServerSettings,
  env: Readonly<Record<string, string | undefined>>,
  openLine: boolean,
): Iterable<string> {
  if (openLine) yield `Tool server ${name} is reached without TLS: others can read and change what is sent.`;
  if (bearerTokenEnvVar !== null && env[bearerTokenEnvVar] === undefined)
    yield `Tool server ${name}: the environment variable ${bearerTokenEnvVar} is not set, so it gets no token.`;
}
