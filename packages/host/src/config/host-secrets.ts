import type { Config } from "./config.ts";

/** Names of environment variables that hold secrets of the host itself: keys of models, tokens of tool servers. */
export function hostSecretNames({
  modelProviders,
  rap,
}: Pick<Config, "modelProviders" | "rap">): ReadonlySet<string> {
  return new Set([
    ...modelProviders.flatMap(({ envKey, envHeaders }) => [
      ...(envKey === null ? [] : [envKey]),
      ...Object.values(envHeaders),
    ]),
    ...rap.servers.flatMap(({ bearerTokenEnvVar }) =>
      bearerTokenEnvVar === null ? [] : [bearerTokenEnvVar],
    ),
  ]);
}
