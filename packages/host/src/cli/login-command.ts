import type { Command } from "commander";

export interface KeyOptions {
  readonly provider: string;
  readonly config?: readonly string[];
}

export interface LoginOptions extends KeyOptions {
  readonly withApiKey?: boolean;
  readonly deviceAuth?: boolean;
  readonly browser: boolean;
}

/** Declares `bobbin login`, `logout` and `whoami`, with the flags of `codex login`. */
export function addLogin(bobbin: Command): void {
  bobbin
    .command("login")
    .description("Log in to ChatGPT with a browser, or store the API key of a model provider.")
    .option("--with-api-key", "read an API key from stdin, instead of logging in")
    .option("--provider <id>", "the model provider that the key is for", "openai")
    .option("--device-auth", "log in on another device, by entering a code there")
    .option(
      "--no-browser",
      "open no browser: print the login URL, and read the URL that the browser is redirected to from stdin",
    )
    .addHelpText("after", LOGIN)
    .action(async (options: LoginOptions, self: Command) => {
      const { login } = await import("./login.ts");
      process.exitCode = await login({ ...options, config: self.optsWithGlobals().config });
    });
  bobbin
    .command("logout")
    .description("Delete the stored login or API key.")
    .option("--provider <id>", "the model provider that the key is for", "openai")
    .action(async (options: KeyOptions, self: Command) => {
      const { logout } = await import("./login.ts");
      process.exitCode = await logout({ ...options, config: self.optsWithGlobals().config });
    });
  bobbin
    .command("whoami")
    .description("Show who is logged in, and where the key of each model provider comes from.")
    .option("--json", "print it as JSON")
    .addHelpText("after", WHOAMI)
    .action(async (options: { json?: boolean }, self: Command) => {
      const { whoami } = await import("./whoami.ts");
      process.exitCode = await whoami({ ...options, config: self.optsWithGlobals().config });
    });
}

const LOGIN = `
Logins and keys are readable only by the owner of the home. Hosts that run on
this home use them from their next request on. See docs/accounts.md.

Exit code: 0 if you are logged in, otherwise 1.

Examples:
  bobbin login
  bobbin login --device-auth                      on a machine without a browser
  printenv OPENAI_API_KEY | bobbin login --with-api-key
  bobbin login --with-api-key --provider anthropic < key.txt
`;

const WHOAMI = `
Exit code: 0 if the configured model provider has the key or login that it
needs, otherwise 1.
`;
