import { type Command, Option } from "commander";

/** Declares `bobbin mcp`, with the flags of `codex mcp`. */
export function addMcp(bobbin: Command): void {
  const mcp = bobbin
    .command("mcp")
    .description("List, add, remove and test MCP servers, and log in to them.")
    .addHelpText("after", NOTES);
  addLists(mcp);
  addEdits(mcp);
  addLogins(mcp);
  mcp
    .command("test")
    .description("Connect to a server, and show what it offers, or why it fails.")
    .argument("<name>", "the name of the server")
    .option("--json", "print it as JSON")
    .addHelpText("after", TEST)
    .action(async (name: string, options: { json?: boolean }, self: Command) => {
      const { testServer } = await import("./mcp-server-check.ts");
      process.exitCode = await testServer(name, { ...options, config: self.optsWithGlobals().config });
    });
}

function addLists(mcp: Command): void {
  mcp
    .command("list")
    .description("Show all configured servers and their login status.")
    .option("--json", "print them as JSON")
    .action(async (options: { json?: boolean }, self: Command) => {
      const { listServers } = await import("./mcp-list.ts");
      process.exitCode = await listServers({ ...options, config: self.optsWithGlobals().config });
    });
  mcp
    .command("get")
    .description("Show the configuration of one server.")
    .argument("<name>", "the name of the server")
    .option("--json", "print it as JSON")
    .action(async (name: string, options: { json?: boolean }, self: Command) => {
      const { getServer } = await import("./mcp-list.ts");
      process.exitCode = await getServer(name, { ...options, config: self.optsWithGlobals().config });
    });
}

function addEdits(mcp: Command): void {
  mcp
    .command("add")
    .description("Add a server to config.toml, or replace one.")
    .usage("[options] <name> (--url <url> | -- <command...>)")
    .argument("<name>", "a name of letters, digits, - and _")
    .argument("[command...]", "the server's program and its arguments, after --")
    .option("--env <KEY=VALUE>", "set an environment variable for the program; repeat for several", collect)
    .option("--url <url>", "the address of a streamable HTTP server, instead of a program")
    .option("--bearer-token-env-var <variable>", "the environment variable that contains the server's token")
    .option("--oauth-client-id <id>", "the id of an OAuth client that is registered with the server")
    .option("--oauth-client-secret <secret>", "the secret of that client")
    .addOption(registrationOption())
    .option(
      "--oauth-resource <resource>",
      "the OAuth resource to request, instead of the one that the server names",
    )
    .addHelpText("after", ADD)
    .action(async (name: string, command: string[], options: AddOptions, self: Command) => {
      const { addServer } = await import("./mcp-edit.ts");
      process.exitCode = await addServer(name, command, {
        ...options,
        config: self.optsWithGlobals().config,
      });
    });
  mcp
    .command("remove")
    .description("Remove a server from config.toml, and delete its login.")
    .argument("<name>", "the name of the server")
    .action(async (name: string, _options, self: Command) => {
      const { removeServer } = await import("./mcp-edit.ts");
      process.exitCode = await removeServer(name, self.optsWithGlobals().config);
    });
}

function addLogins(mcp: Command): void {
  mcp
    .command("login")
    .description("Log in to a server with a browser.")
    .argument("<name>", "the name of the server")
    .option("--scopes <scope,scope>", "the OAuth scopes to request, instead of the configured ones", commas)
    .option(
      "--no-browser",
      "open no browser: print the login URL, and read the URL that the browser is redirected to from stdin",
    )
    .addOption(registrationOption())
    .addHelpText("after", LOGIN)
    .action(async (name: string, options: LoginOptions, self: Command) => {
      const { loginTo } = await import("./mcp-login.ts");
      process.exitCode = await loginTo(name, { ...options, config: self.optsWithGlobals().config });
    });
  mcp
    .command("logout")
    .description("Delete a login, and revoke it at the server.")
    .argument("<name>", "the name of the server")
    .action(async (name: string, _options, self: Command) => {
      const { logoutFrom } = await import("./mcp-login.ts");
      process.exitCode = await logoutFrom(name, self.optsWithGlobals().config);
    });
}

export interface AddOptions {
  readonly env?: readonly string[];
  readonly url?: string;
  readonly bearerTokenEnvVar?: string;
  readonly oauthClientId?: string;
  readonly oauthClientSecret?: string;
  readonly oauthClientRegistration?: "auto" | "cimd" | "dcr";
  readonly oauthResource?: string;
}

export interface LoginOptions {
  readonly scopes?: readonly string[];
  readonly browser?: boolean;
  readonly oauthClientRegistration?: "auto" | "cimd" | "dcr";
}

function registrationOption(): Option {
  return new Option(
    "--oauth-client-registration <way>",
    "how to register as an OAuth client: auto, cimd (metadata document) or dcr (dynamic registration)",
  ).choices(["auto", "cimd", "dcr"]);
}

function collect(value: string, all: readonly string[] = []): readonly string[] {
  return [...all, value];
}

function commas(value: string): readonly string[] {
  return value
    .split(",")
    .map((scope) => scope.trim())
    .filter((scope) => scope !== "");
}

const NOTES = `
Servers are configured in config.toml as [mcp_servers.NAME], with the keys of
the Codex CLI; see docs/mcp.md.

Examples:
  bobbin mcp add files -- \\
    npx -y @modelcontextprotocol/server-filesystem ~/Documents
  bobbin mcp add tracker --url https://mcp.example.com/mcp
  bobbin mcp test files
`;

const ADD = `
Comments and order in config.toml are kept. If the server has an address and
supports logins, and this is a terminal, the login starts at once.

Examples:
  bobbin mcp add files -- \\
    npx -y @modelcontextprotocol/server-filesystem ~/Documents
  bobbin mcp add search --env API_KEY=abc -- search-server --stdio
  bobbin mcp add tracker --url https://mcp.example.com/mcp
  bobbin mcp add wiki --url https://wiki.example.com/mcp \\
    --bearer-token-env-var WIKI_TOKEN
`;

const LOGIN = `
The login is stored in the home, readable only by its owner. Hosts that run on
this home use it from then on.

Exit code: 0 if you are logged in, otherwise 1.

Examples:
  bobbin mcp login tracker
  bobbin mcp login tracker --scopes read,write
  bobbin mcp login tracker --no-browser           on a machine without a browser
`;

const TEST = `
Starts the program, or connects to the address, as a host would, and then ends
the connection.

Exit code: 0 if the server can be used, otherwise 1.

Examples:
  bobbin mcp test files
  bobbin mcp test files --json | jq '.tools[].name'
`;
