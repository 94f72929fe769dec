import type { Config } from "./config.ts";

/**
 * Names of the environment variables that contain secrets of the host: API keys of models, tokens of tool servers and
 * of MCP servers.
 */
export function hostSecretNames({
  modelProviders,
  rap,
  mcp,
}: Pick<Config, "modelProviders" | "rap" | "mcp">): ReadonlySet<string> {
  return new Set([
    ...modelProviders.flatMap(({ envKey, envHeaders }) => [
      ...(envKey === null ? [] : [envKey]),
      ...Object.values(envHeaders),
    ]),
    ...rap.servers.flatMap(({ bearerTokenEnvVar }) =>
      bearerTokenEnvVar === null ? [] : [bearerTokenEnvVar],
    ),
    ...mcp.servers.flatMap(({ transport }) => {
      if (transport.kind === "stdio") return [];
      const { bearerTokenEnvVar, envHeaders } = transport;
      return [...(bearerTokenEnvVar === null ? [] : [bearerTokenEnvVar]), ...Object.values(envHeaders)];
    }),
  ]);
}
