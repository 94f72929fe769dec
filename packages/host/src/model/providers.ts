import { fault } from "../errors.ts";
import type { ModelProvider } from "./model.ts";

/** The providers that are configured, by id. */
export class ModelProviders {
  readonly #byId: ReadonlyMap<string, ModelProvider>;

  constructor(providers: readonly ModelProvider[]) {
    this.#byId = new Map(providers.map((provider) => [provider.id, provider]));
  }

  get all(): Iterable<ModelProvider> {
    return this.#byId.values();
  }

  get(id: string): ModelProvider {
    const provider = this.#byId.get(id);
    if (provider === undefined) throw fault("unknownModelProvider", id, [...this.#byId.keys()].join(", "));
    return provider;
  }
}
