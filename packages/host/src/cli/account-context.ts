import { Accounts } from "../account/current-account.ts";
import type { Config } from "../config/config.ts";
import { homeDirectory } from "../config/home-folder.ts";
import { loadConfig } from "../config/load-config.ts";
import { type Credentials, openCredentials } from "../credentials/open-credentials.ts";
import type { ProviderSettings } from "../model/provider-settings.ts";
import { nodePlatform } from "../platform/node.ts";
import { CredentialFiles } from "../store/files/credential-files.ts";
import { escapeControls } from "./terminal-output.ts";

/** Home, configuration and stored credentials, for the commands about logins and API keys. */
export interface AccountContext {
  readonly home: string;
  readonly config: Config;
  readonly credentials: Credentials;
  readonly accounts: Accounts;
}

export async function openAccountContext(overrides: readonly string[] = []): Promise<AccountContext> {
  const home = homeDirectory();
  const platform = nodePlatform();
  const config = await loadConfig(platform.files, home, overrides);
  return { home, config, ...openAccounts(home, config) };
}

/** Opens the stored login and API keys of a home. */
export function openAccounts(
  home: string,
  { login, credentials: settings }: Pick<Config, "login" | "credentials">,
): Pick<AccountContext, "accounts" | "credentials"> {
  const platform = nodePlatform();
  const credentials = openCredentials({
    home,
    platform,
    texts: new CredentialFiles(home, platform),
    settings: () => settings,
  });
  const accounts = new Accounts({ platform, store: credentials.account, login: () => login });
  return { accounts, credentials };
}

/** Finds a configured model provider. If there is none with this id, prints an error to stderr and returns undefined. */
export function findProvider({ config }: AccountContext, id: string): ProviderSettings | undefined {
  const found = config.modelProviders.find((provider) => provider.id === id);
  if (found !== undefined) return found;
  const known = config.modelProviders.map((provider) => provider.id).join(", ");
  printError(`No model provider named '${id}'. There are: ${known}.`);
  return undefined;
}

export function printError(text: string): void {
  process.stderr.write(`bobbin: ${escapeControls(text)}\n`);
}
