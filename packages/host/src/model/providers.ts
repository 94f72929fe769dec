import { fault } from "../errors.ts";
import type { Platform } from "../platform/platform.ts";
import { httpProvider } from "./http-provider.ts";
import type { ModelProvider } from "./model.ts";
import { offlineProvider } from "./offline.ts";
import type { Environment, ProviderSettings } from "./provider-settings.ts";

/** The providers that are configured, by id. */
export class ModelProviders {
  #byId!: ReadonlyMap<string, ModelProvider>;

  constructor(providers: readonly ModelProvider[]) {
    this.replace(providers);
  }

  /** From the next call on; those that are under way go on as they are. */
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

/** All of them: the one that is built in, and those that speak over HTTP. None is touched before it is used. */
export function buildProviders(
  all: readonly ProviderSettings[],
  platform: Platform,
  env: Environment = process.env,
): readonly ModelProvider[] {
  return [offlineProvider(platform), ...all.map((settings) => httpProvider({ settings, platform, env }))];
}
