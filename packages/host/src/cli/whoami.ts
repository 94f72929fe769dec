import type { Account } from "@bobbin/protocol";
import { credentialLocation } from "../credentials/credential-location.ts";
import { OFFLINE_MODEL } from "../model/model.ts";
import type { ProviderSettings } from "../model/provider-settings.ts";
import { credentialFolder } from "../store/files/credential-files.ts";
import { type AccountContext, openAccountContext } from "./account-context.ts";
import { hasStoredKey, modelProblem } from "./model-problem.ts";
import { escapeControls, Output } from "./terminal-output.ts";

/** Where the API key of a provider comes from; null if it has none. */
type KeySource = "config" | "environment" | "stored" | null;

/** Shows the login and where API keys come from, without secrets. Resolves with the exit code. */
export async function whoami(options: {
  readonly json?: boolean;
  readonly config?: readonly string[];
}): Promise<number> {
  const stdout = new Output(process.stdout);
  const context = await openAccountContext(options.config);
  const { home, config, accounts, credentials } = context;
  const account = (await accounts.current())?.account ?? null;
  const problem = modelProblem(config, process.env, await hasStoredKey(config, accounts));
  const providers = await Promise.all(
    config.modelProviders.map(async (settings) => ({
      id: settings.id,
      key: await keySourceOf(context, settings),
    })),
  );
  const unreadable = await accounts.problem();
  const { words, ...place } = await credentialLocation(
    credentialFolder(home),
    config.credentials.account,
    credentials.keys,
  );
  if (options.json === true) {
    const { model, modelProvider } = config;
    stdout.line(JSON.stringify({ model, modelProvider, account, providers, credentials: place }, null, 2));
  } else {
    stdout.line(`Model    ${escapeControls(config.model)} (${escapeControls(config.modelProvider)})`);
    stdout.line(
      `Account  ${unreadable === undefined ? accountWords(account) : "stored, but cannot be read"}`,
    );
    for (const { id, key } of providers)
      if (key !== null) stdout.line(`Key      ${escapeControls(id)}: ${KEY_WORDS[key]}`);
    stdout.line(`Stored   ${escapeControls(words)}`);
    const trouble = unreadable ?? (place.problem && `The keyring does not answer: ${place.problem}`);
    if (trouble) stdout.line(escapeControls(trouble));
    if (config.modelProvider === OFFLINE_MODEL) stdout.line("The offline model needs no key.");
    if (problem !== undefined)
      stdout.line(`\n${escapeControls(problem.found)}\n→ ${escapeControls(problem.advice)}`);
  }
  await stdout.flushed();
  return problem === undefined ? 0 : 1;
}

const KEY_WORDS: { readonly [K in NonNullable<KeySource>]: string } = {
  config: "in config.toml",
  environment: "in the environment",
  stored: "stored by bobbin login",
};

function accountWords(account: Account | null): string {
  if (account === null) return "not logged in";
  if (account.type !== "chatgpt") return "an API key";
  return `${escapeControls(account.email ?? "ChatGPT")} (plan: ${account.planType})`;
}

/** Finds the source of a provider's API key, in the order of precedence. */
async function keySourceOf({ accounts }: AccountContext, settings: ProviderSettings): Promise<KeySource> {
  const { bearerToken, envKey, envKeyFirst } = settings;
  if (bearerToken !== null) return "config";
  const isGiven = envKey !== null && Boolean(process.env[envKey]?.trim());
  if (isGiven && envKeyFirst) return "environment";
  if (await accounts.has(settings)) return "stored";
  return isGiven ? "environment" : null;
}
