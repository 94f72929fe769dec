import type { Accounts } from "../account/current-account.ts";
import type { Config } from "../config/config.ts";
import { OFFLINE_MODEL } from "../model/model.ts";
import type { Environment } from "../model/provider-settings.ts";
import type { Problem } from "./problem-and-advice.ts";

/** Whether an API key or login is stored for the configured model provider. */
export async function hasStoredKey(
  { modelProvider, modelProviders }: Pick<Config, "modelProvider" | "modelProviders">,
  accounts: Pick<Accounts, "has">,
): Promise<boolean> {
  const settings = modelProviders.find(({ id }) => id === modelProvider);
  return settings !== undefined && (await accounts.has(settings));
}

/** Explains why the configured model cannot be used, as far as that is known without a request to its provider. */
export function modelProblem(
  { model, modelProvider, modelProviders }: Pick<Config, "model" | "modelProvider" | "modelProviders">,
  env: Environment,
  isKeyStored = false,
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
  if (envKey === null || bearerToken !== null || isKeyStored || env[envKey]?.trim()) return undefined;
  return {
    found: `${model} needs a key for ${name}, and ${envKey} is not set`,
    advice:
      envKeyInstructions ??
      `Set the environment variable ${envKey} and start again, or store a key: bobbin login --with-api-key --provider ${modelProvider}.`,
  };
}
