import type { Environment, ProviderSettings } from "./provider-settings.ts";
import type { ProviderCredential, StoredKeys } from "./stored-keys.ts";

interface CredentialSources {
  readonly settings: ProviderSettings;
  readonly env: Environment;
  readonly keys?: StoredKeys | undefined;
}

/**
 * Finds the credential for a provider, in this order: the token of config.toml; the environment variable, if
 * `env_key` configures it; a stored key; the provider's usual environment variable. Undefined if there is none.
 */
export async function credentialFor({
  settings,
  env,
  keys,
}: CredentialSources): Promise<
  { readonly credential: ProviderCredential; readonly isStored: boolean } | undefined
> {
  if (settings.bearerToken !== null) return { credential: { token: settings.bearerToken }, isStored: false };
  const token = settings.envKey === null ? "" : (env[settings.envKey]?.trim() ?? "");
  const fromEnvironment = token === "" ? undefined : { credential: { token }, isStored: false };
  if (fromEnvironment !== undefined && settings.envKeyFirst) return fromEnvironment;
  const stored = await keys?.find(settings);
  return stored === undefined ? fromEnvironment : { credential: stored, isStored: true };
}

/** Minimum length of a secret. Shorter values may be ordinary words, and are not redacted. */
const MIN_SECRET_LENGTH = 8;

/** Redacts a provider's secrets in a text, because servers repeat keys in their error messages. */
export function hideSecrets({ settings, env, keys }: CredentialSources, text: string): string {
  const { bearerToken, envKey, envHeaders } = settings;
  const variables = [...(envKey === null ? [] : [envKey]), ...Object.values(envHeaders)];
  const values = [bearerToken, ...variables.map((name) => env[name]?.trim())];
  const hidden = values.reduce<string>(
    (redacted, value) =>
      value && value.length >= MIN_SECRET_LENGTH ? redacted.replaceAll(value, "[redacted]") : redacted,
    text,
  );
  return keys === undefined ? hidden : keys.hide(hidden);
}
