/** The account that pays for models, keys of providers, and what was used. */
export const accountLines = {
  "ACCT-1":
    "A client logs in with an API key and out again: the reply comes first, then account/login/completed and account/updated to every connection of the host's user; account/read and getAuthStatus show it.",
  "ACCT-2":
    "A stored key is sent to its provider, also by hosts that run already: that of the account where the provider asks for it, else the provider's own. A variable that env_key names counts before it.",
  "ACCT-3":
    "A stored key is in a file for the user alone, and in no log, journal, notification, error, feedback report, metric or configuration reply, also when a provider repeats it.",
  "ACCT-4": "`bobbin login`, `logout` and `whoami` store, forget and name keys, and print none.",
  "ACCT-5": "No subject sees the account, logs in or logs out.",
  "ACCT-6":
    "`bobbin token` makes capability tokens, and signs tokens that name a subject or, if that is asked for, the host's own user.",
  "ACCT-7":
    "Headers of tool servers that a thread brings along reach these servers, also after a restart and from a fork, and are in no file of the home in the clear; journals that have them in the clear are read.",
  "ACCT-8":
    "Secrets of MCP servers that a client names (variables, headers, arguments, addresses) reach these servers, also after a restart and from a fork, and are in no file of the home in the clear, nor in logs, replies, metrics and feedback; journals that have them in the clear are read.",
  "ACCT-9":
    "Where the system's keyring answers, a credential is in a file, sealed with a key that only the keyring has; all hosts on the home read it, and each asks the keyring once.",
  "ACCT-10":
    'A keyring that refuses, or does not answer in time, holds nobody up: credentials are in a file for the user alone, and one log line says why; with cli_auth_credentials_store = "keyring" they are refused. A sealed credential that cannot be opened is not taken for none.',
  "ACCT-11":
    "A credential that was kept another way goes where the configuration says, in one step: it is never in two places, nor in none, whenever the host dies.",
  "ACCT-12": 'With cli_auth_credentials_store = "ephemeral" a login is gone with its host, and in no file.',
  "ACCT-13":
    "The key that seals secrets in journals is a credential: in the keyring where that answers, else in a file for the user alone; it is never replaced while it cannot be read.",
  "ACCT-14":
    "`bobbin whoami` and `bobbin doctor` say where credentials are kept, and why not in the keyring.",
  "ACCT-15":
    "A login or logout by another process on the same home is notified with account/updated; one of a client of the host once.",
  "LOGIN-1":
    "A client logs in to ChatGPT with a browser, PKCE and a local callback at the issuer of the configuration; account/login/completed says how it ended, and turns are sent with the token and the workspace.",
  "LOGIN-2":
    "A login can be cancelled and is replaced by the next one; one with the wrong state goes on waiting; a denied one ends with the reason; a code that is used twice, and a login that is too late, log nobody in.",
  "LOGIN-3": "A client logs in with a code that a person confirms on another device.",
  "LOGIN-4":
    "A token is refreshed before it expires and when it is refused, once for all hosts on one home; a login that is over is gone.",
  "LOGIN-5":
    "Tokens that a client gives are used while the host runs, stored nowhere, and asked for again with account/chatgptAuthTokens/refresh when they are refused.",
  "LOGIN-6": "`bobbin login` logs in with a browser, `logout` revokes the tokens, and no token is printed.",
  "USAGE-2":
    "account/usage/read has the tokens and, where prices are configured, the cost per thread, day and model, of all hosts on one home, also after a restart and for deleted threads.",
  "USAGE-3":
    "With a daily limit in the configuration, account/rateLimits/read and account/rateLimits/updated show what of it is used, and turns fail with usageLimitExceeded once it is reached.",
} as const;
