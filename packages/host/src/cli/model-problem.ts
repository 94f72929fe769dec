import type { Config } from "../config/config.ts";
import { OFFLINE_MODEL } from "../model/model.ts";
import type { Environment } from "../model/provider-settings.ts";
import type { Problem } from "./problem.ts";

/** Says why the configured model cannot answer, as far as that is known without asking its provider. */
export function modelProblem(
  { model, modelProvider, modelProviders }: Pick<Config, "model" | "modelProvider" | "modelProviders">,
  env: Environment,
): Problem | undefined {
  const ids = modelProviders.map(({ id }) => id);
  if (modelProvider === OFFLINE_MODEL) {
    if (model === OFFLINE_MODEL) return undefined;
    return {
      found: `the provider offline has no model ${model}`,
      advice: `Set model_provider to the provider of ${model}: ${ids.join(", ")}.`,
    };
  }
  const settings = modelProviders.find(({ id }) => id === modelProvider);
  if (settings === undefined) {
    return {
      found: `the model provider ${modelProvider} is not known`,
      advice: `Set model_provider to one of these: ${[OFFLINE_MODEL, ...ids].join(", ")}.`,
    };
  }
  const { envKey, envKeyInstructions, bearerToken, name } = settings;
  if (envKey === null || bearerToken !== null || env[envKey]?.trim()) return undefined;
  return {
    found: `${model} needs a key for ${name}, and ${envKey} is not set`,
    advice: envKeyInstructions ?? `Set the environment variable ${envKey}, and start again.`,
  };
}
