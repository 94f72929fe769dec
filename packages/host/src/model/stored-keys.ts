import type { ProviderSettings } from "./provider-settings.ts";

/** The credential that is sent to a provider. */
export interface ProviderCredential {
  readonly token: string;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The base URL that accepts this credential, if it is not the provider's own. */
  readonly baseUrl?: string;
}

/** Access to stored keys. Keys in the environment and in config.toml are not stored keys. */
export interface StoredKeys {
  /** The current credential for a provider; undefined if there is none. */
  find(settings: ProviderSettings): Promise<ProviderCredential | undefined>;
  /** Returns another credential to try after the provider refused this one; undefined if there is none. */
  refused(
    settings: ProviderSettings,
    credential: ProviderCredential,
  ): Promise<ProviderCredential | undefined>;
  /** Redacts the credentials that were found so far in a text that may repeat them. */
  hide(text: string): string;
}
