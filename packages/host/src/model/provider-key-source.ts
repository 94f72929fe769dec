import type { ProviderKeySource } from "@bobbin/protocol";
import type { Environment, ProviderSettings } from "./provider-settings.ts";

/** Where `credentialFor` finds the credential of a provider. */
export function keySource(
  { bearerToken, envKey, envKeyFirst, requiresOpenaiAuth }: ProviderSettings,
  env: Environment,
  isStored: boolean,
): ProviderKeySource {
  if (bearerToken !== null) return "config";
  const isInEnvironment = envKey !== null && (env[envKey]?.trim() ?? "") !== "";
  if (isInEnvironment && (envKeyFirst || !isStored)) return "environment";
  if (isStored) return "stored";
  return envKey === null && !requiresOpenaiAuth ? "notNeeded" : "missing";
}
