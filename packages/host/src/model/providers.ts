import { fault } from "../errors.ts";
import type { Platform } from "../platform/platform.ts";
import { httpProvider } from "./http-provider.ts";
import type { ModelProvider } from "./model.ts";
import { offlineProvider } from "./offline.ts";
import type { Environment, ProviderSettings } from "./provider-settings.ts";
import type { StoredKeys } from "./stored-keys.ts";

/** The providers that are configured, by id. */
export class ProviderRegistry {
  #byId!: ReadonlyMap<string, ModelProvider>;

  constructor(providers: readonly ModelProvider[]) {
    this.replace(providers);
  }

  /** Replaces the providers. Calls in progress keep their provider. */
  replace(providers: readonly ModelProvider[]): void {
    this.#byId = new Map(providers.map((provider) => [provider.id, provider]));
  }

  get ids(): readonly string[] {
    return [...this.#byId.keys()];
  }

  find(id: string): ModelProvider | undefined {
    return this.#byId.get(id);
  }

  get(id: string): ModelProvider {
    const provider = this.#byId.get(id);
    if (provider === undefined) throw fault("unknownModelProvider", id, this.ids.join(", "));
    return provider;
  }
}

/**
 * Creates all providers: the built-in one, and the configured HTTP providers. No connection is made before the first
 * use.
 */
export function buildProviders(
  all: readonly ProviderSettings[],
  platform: Platform,
  keys?: StoredKeys,
  env: Environment = process.env,
): readonly ModelProvider[] {
  return [
    offlineProvider(platform),
    ...all.map((settings) => httpProvider({ settings, platform, env, keys })),
  ];
}
