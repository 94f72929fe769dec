import { join } from "node:path";
import { ACCOUNT, Accounts } from "./account/current-account.ts";
import type { GivenTokens } from "./account/external-tokens.ts";
import { SqliteUsageStore } from "./account/usage/sqlite-usage-store.ts";
import { UsageLedger } from "./account/usage/usage-ledger.ts";
import { usageLimitedProvider } from "./account/usage/usage-limited-provider.ts";
import type { UsageStore } from "./account/usage/usage-store.ts";
import type { LoginSettings } from "./config/login-settings.ts";
import type { UsageSettings } from "./config/usage-settings.ts";
import {
  type CredentialSettings,
  type Credentials,
  openCredentials,
} from "./credentials/open-credentials.ts";
import { notifyOwner } from "./host.ts";
import { type ModelProvider, OFFLINE_MODEL } from "./model/model.ts";
import type { Log } from "./observe/log.ts";
import type { Supervisor } from "./observe/supervise.ts";
import type { Platform } from "./platform/platform.ts";
import { AccountUpdates } from "./server/account-updates.ts";
import type { Connection } from "./server/connection.ts";
import { isHostUser } from "./server/host-user-check.ts";
import { ThreadlessServerRequests } from "./server/threadless-server-requests.ts";
import type { CredentialTexts } from "./store/credential-text-store.ts";

interface AccountParts {
  readonly home: string;
  readonly platform: Platform;
  readonly texts: CredentialTexts;
  readonly log: Log;
  readonly supervisor: Supervisor;
  readonly connections: Iterable<Connection>;
  /** Whether model calls use the account. False in tests with their own providers. */
  readonly isUsed: boolean;
  /** The current configuration. */
  settings(): { readonly login: LoginSettings; readonly credentials: CredentialSettings };
}

/** Creates the account and the store of all credentials. */
export function composeAccounts(parts: AccountParts): {
  readonly credentials: Credentials;
  readonly threadlessRequests: ThreadlessServerRequests;
  readonly accounts: Accounts;
  readonly accountNews: AccountUpdates;
} {
  const { home, platform, texts, log, supervisor, connections, settings } = parts;
  const credentials = openCredentials({
    home,
    platform,
    texts,
    settings: () => settings().credentials,
    fellBack: (why) =>
      log.warn(
        "the keyring is unavailable: credentials are stored in plain files that only the user can read",
        { why },
      ),
    background: (what, work) => supervisor.take(what, work),
  });
  const threadlessRequests = new ThreadlessServerRequests(platform);
  const accounts = new Accounts({
    platform,
    store: credentials.account,
    login: () => settings().login,
    storingLogin: () => accountNews.storingLogin(),
    askForTokens: (previousAccountId) => askForTokens(threadlessRequests, connections, previousAccountId),
  });
  const accountNews: AccountUpdates = new AccountUpdates({
    accounts,
    path: texts.path(ACCOUNT),
    isWatched: parts.isUsed,
    watch: platform.machineFileAccess.watch,
    timers: platform.timers,
    supervisor,
    notify: (account) => {
      const { authMode = null, planType = null } = account ?? {};
      notifyOwner(connections, "local", "account/updated", { authMode, planType });
    },
  });
  return { credentials, threadlessRequests, accounts, accountNews };
}

interface UsageParts {
  readonly home: string;
  readonly platform: Platform;
  readonly supervisor: Supervisor;
  readonly connections: Iterable<Connection>;
  /** For tests: a store to use instead of `usage.sqlite` in the home. */
  readonly store: UsageStore | undefined;
  settings(): UsageSettings;
}

/** Creates the usage ledger. When its daily limit is reached, clients are notified and `limited` providers refuse calls. */
export function composeUsage({ home, platform, connections, ...parts }: UsageParts): {
  readonly usage: UsageLedger;
  limited(provider: ModelProvider): ModelProvider;
} {
  const usage = new UsageLedger({
    ...platform,
    supervisor: parts.supervisor,
    store: parts.store ?? new SqliteUsageStore(join(home, "usage.sqlite"), platform.files),
    settings: parts.settings,
    limitChanged: (snapshot) =>
      notifyOwner(connections, "local", "account/rateLimits/updated", { rateLimits: snapshot }),
  });
  const limited = (provider: ModelProvider): ModelProvider => {
    const { dailyTokens, dailyCostUsd } = parts.settings();
    const isFree = provider.id === OFFLINE_MODEL || (dailyTokens === null && dailyCostUsd === null);
    return isFree ? provider : usageLimitedProvider(provider, () => usage.problem());
  };
  return { usage, limited };
}

/** Time limit for a client's reply with new tokens. */
const TOKENS_MS = 10_000;

/** Asks the clients of the host's own user for new tokens of the account. */
function askForTokens(
  requests: ThreadlessServerRequests,
  connections: Iterable<Connection>,
  previousAccountId: string,
): Promise<GivenTokens> {
  const users = [...connections].filter(
    ({ client, meta }) => client !== undefined && isHostUser(meta.principal),
  );
  const params = { reason: "unauthorized", previousAccountId } as const;
  return requests.ask(users, "account/chatgptAuthTokens/refresh", params, TOKENS_MS);
}
