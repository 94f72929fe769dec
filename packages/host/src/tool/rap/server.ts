import type { ServerAddress } from "@bobbin/rap/runtime";
import type { RapSettings, ToolServerSettings } from "./settings.ts";

/** Two that are the same have the same key. */
export function serverKey(settings: ToolServerSettings): string {
  return JSON.stringify(settings);
}

/** What it is counted as: those that threads bring along, by whatever names, are one. */
export function serverLabel({ servers }: RapSettings, name: string): string {
  return servers.some((server) => server.name === name) ? name : "thread";
}

/** A server with its credentials. */
export function serverAddress(
  { name, url, headers, allowedOrigins, bearerTokenEnvVar }: ToolServerSettings,
  env: Readonly<Record<string, string | undefined>>,
): ServerAddress {
  const token = bearerTokenEnvVar === null ? undefined : env[bearerTokenEnvVar];
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return { name, url, headers: { ...headers, ...authorization }, allowedOrigins };
}

/** What is wrong with how a server is configured, without being an error. */
export function* configProblems(
  { name, bearerTokenEnvVar }: ToolServerSettings,
  env: Readonly<Record<string, string | undefined>>,
  openLine: boolean,
): Iterable<string> {
  if (openLine) yield `Tool server ${name} is reached without TLS: others can read and change what is sent.`;
  if (bearerTokenEnvVar !== null && env[bearerTokenEnvVar] === undefined)
    yield `Tool server ${name}: the environment variable ${bearerTokenEnvVar} is not set, so it gets no token.`;
}
