import { keyProblem } from "../../account/api-key.ts";
import type { PendingLogin } from "../../account/chatgpt-logins.ts";
import { ACCOUNT_PROVIDER, type CurrentAccount } from "../../account/current-account.ts";
import { ConfigError } from "../../config/bad-config-error.ts";
import type { LayeredConfig, Table } from "../../config/layered-config.ts";
import { readModelProviders } from "../../config/model-providers.ts";
import { fault, messageOf } from "../../errors.ts";
import { LoginError } from "../../oauth/login-error.ts";
import type { HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { isHostUser } from "../host-user-check.ts";

/** The owner whose connections are notified about the account: the host's own user. */
const HOST_USER = "local";

/** Handlers for the account that pays for models: login, logout, status, rate limits and usage. */
export function accountHandlers(context: HandlerContext, layers: LayeredConfig): MethodHandlers {
  const { accounts, accountNews, rateLimits, usage, supervisor } = context;

  /** The account, if the configured model provider uses it. */
  const inUse = async (): Promise<{ account: CurrentAccount | undefined; isNeeded: boolean }> => {
    const [table, account] = await Promise.all([layers.merged(), accounts.current()]);
    accountNews.shown(account);
    const isNeeded = needsLogin(table, context.platform.env, account !== undefined);
    return { account: isNeeded ? account : undefined, isNeeded };
  };

  const notifyCompleted = async (loginId: string | null, error: string | null): Promise<void> => {
    const success = error === null;
    // Read before the notification, because a client may log out as soon as it gets the notification.
    const account = success ? await accounts.current() : undefined;
    context.notify(HOST_USER, "account/login/completed", {
      loginId,
      success,
      error,
      onboardingEntrypoint: null,
    });
    if (success) accountNews.changed(account);
  };

  /** Notifies clients when a login has succeeded or failed. */
  const follow = (login: PendingLogin): void => {
    const ended = login.done.then(
      () => notifyCompleted(login.id, null),
      (cause: unknown) => {
        // Other errors, for example a full disk, are problems of the host and are logged.
        if (!(cause instanceof LoginError)) supervisor.report("logging in to the account", cause);
        return notifyCompleted(login.id, endOf(cause));
      },
    );
    supervisor.take(
      "logging in to the account",
      ended.finally(() => accountNews.loginEnded()),
    );
  };

  const begin = async <L>(start: () => Promise<L>): Promise<L> => {
    if (accounts.hasExternal) throw fault("externalAuthActive");
    if (context.config.login.forcedMethod === "api") throw fault("chatgptLoginDisabled");
    return start().catch((cause: unknown) => {
      if (!(cause instanceof LoginError)) throw cause;
      throw fault(cause.kind === "unsupported" ? "loginNotOffered" : "loginFailed", cause.message);
    });
  };

  return {
    async "account/read"({ refreshToken }, { connection, reply }) {
      // A subject cannot see the account, and cannot log in.
      if (!isHostUser(connection.meta.principal))
        return reply({ account: null, userId: null, requiresOpenaiAuth: false, workspaceRouting: null });
      if (refreshToken === true) await accounts.renew();
      const { account, isNeeded } = await inUse();
      reply({
        account: account?.account ?? null,
        userId: null,
        requiresOpenaiAuth: isNeeded,
        workspaceRouting: null,
      });
    },

    // The service that has such notices is not asked for any.
    "account/securitySetup/read"(_params, { reply }) {
      reply({ notice: null });
    },

    async "account/login/start"(params, { reply }) {
      const { forcedMethod } = context.config.login;
      switch (params.type) {
        case "apiKey": {
          if (accounts.hasExternal) throw fault("externalAuthActive");
          if (forcedMethod === "chatgpt") throw fault("apiKeyLoginDisabled");
          const apiKey = params.apiKey.trim();
          const problem = keyProblem(apiKey);
          if (problem !== undefined) throw fault("invalidParams", "apiKey", problem);
          return accountNews.during(async () => {
            await accounts.setKey(ACCOUNT_PROVIDER, apiKey);
            reply({ type: "apiKey" });
            await notifyCompleted(null, null);
          });
        }
        case "chatgpt": {
          const login = await begin(async () => (await accounts.logins()).browser());
          reply({ type: "chatgpt", loginId: login.id, authUrl: login.url });
          return follow(login);
        }
        case "chatgptDeviceCode": {
          const login = await begin(async () => (await accounts.logins()).device());
          const { id: loginId, verificationUrl, userCode } = login;
          reply({ type: "chatgptDeviceCode", loginId, verificationUrl, userCode });
          return follow(login);
        }
        case "chatgptAuthTokens": {
          if (forcedMethod === "api") throw fault("externalAuthDisabled");
          return accountNews.during(async () => {
            await accounts.useTokens(params).catch((cause: unknown) => {
              throw fault("externalAuthInvalid", messageOf(cause));
            });
            reply({ type: "chatgptAuthTokens" });
            await notifyCompleted(null, null);
          });
        }
        default:
          throw fault("loginUnsupported", params.type);
      }
    },

    async "account/login/cancel"({ loginId }, { reply }) {
      if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(loginId))
        throw fault("invalidLoginId", loginId.slice(0, 100));
      const wasThere = (await accounts.logins()).cancel(loginId.toLowerCase());
      reply({ status: wasThere ? "canceled" : "notFound" });
    },

    async "account/logout"(_params, { reply }) {
      await accountNews.during(async () => {
        await accounts.logout();
        reply({});
        accountNews.changed(undefined);
      });
    },

    async getAuthStatus({ includeToken, refreshToken }, { reply }) {
      if (refreshToken === true) await accounts.renew();
      const { account, isNeeded } = await inUse();
      reply({
        authMethod: account?.authMode ?? null,
        authToken: includeToken === true ? (account?.token ?? null) : null,
        requiresOpenaiAuth: isNeeded,
      });
    },

    // Unknown values are null, which does not mean "no limit". This method never fails, because clients call it when
    // they start.
    async "account/rateLimits/read"(_params, { connection, reply }) {
      const own = isHostUser(connection.meta.principal) ? await usage.snapshot() : undefined;
      reply({
        accountId: null,
        ordinaryUsageAllowed: null,
        rateLimitResetCredits: null,
        rateLimitUpsell: null,
        ...rateLimits.read(own),
      });
    },

    async "account/usage/read"(params, { reply }) {
      reply(await usage.read(params?.threadId ?? null));
    },

    "account/bedrock/checkGovCloudRequirements"(_params, { reply }) {
      reply({ isGovCloud: false, shouldWarn: false });
    },
  };
}

/** Why a login failed, as text. Clients compare the first two texts. */
function endOf(cause: unknown): string {
  const kind = cause instanceof LoginError ? cause.kind : undefined;
  if (kind === "cancelled") return "Login was not completed";
  return kind === "timedOut" ? "Login timed out" : messageOf(cause);
}

/**
 * Whether requests to the configured provider need a login. Clients then show the login first. False if the
 * environment already has an API key.
 */
function needsLogin(
  config: Table,
  env: Readonly<Record<string, string | undefined>>,
  isLoggedIn: boolean,
): boolean {
  try {
    const { modelProvider, modelProviders } = readModelProviders(config);
    const settings = modelProviders.find(({ id }) => id === modelProvider);
    if (settings?.requiresOpenaiAuth !== true || settings.bearerToken !== null) return false;
    const hasKey = settings.envKey !== null && Boolean(env[settings.envKey]?.trim());
    return !hasKey || (isLoggedIn && !settings.envKeyFirst);
  } catch (cause) {
    // The code that uses the configuration reports that it is invalid.
    if (cause instanceof ConfigError) return false;
    throw cause;
  }
}
