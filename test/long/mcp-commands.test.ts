import { existsSync } from "node:fs";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually, eventuallyPasses } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { BOBBIN, environment, stdioHost } from "../support/host-process.ts";
import { EVERYTHING, homeWith, MCP_PROGRAM, mcpServer } from "../support/mcp-stage.ts";
import { browse, browseUntil } from "../support/oauth/browser.ts";
import { oauthStage, storedLogin } from "../support/oauth/stage.ts";
import { type Run, runBobbin } from "../support/run-bobbin.ts";
import { TerminalRun } from "../support/terminal-run.ts";

const stage = oauthStage();

function mcp(home: string, ...args: readonly string[]): Promise<Run> {
  return runBobbin(["mcp", ...args], { env: { BOBBIN_HOME: home } });
}

const ok = (stdout: unknown) => ({ code: 0, stdout, stderr: "" });

/** On a terminal, with a browser that writes down what it is to open. */
async function onTerminal(home: string, args: readonly string[], env: Record<string, string> = {}) {
  const folder = await freshFolder("browser");
  const opened = join(folder, "opened");
  const browser = join(folder, "browser");
  await writeFile(browser, `#!/bin/sh\nprintf '%s' "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`);
  await chmod(browser, 0o755);
  const run = await TerminalRun.start([process.execPath, BOBBIN, "mcp", ...args], {
    cwd: folder,
    env: environment(home, { BROWSER: browser, TERM: "xterm", ...env }),
  });
  const address = async () => {
    await eventually(() => existsSync(opened), "the browser was opened");
    return readFile(opened, "utf8");
  };
  return { run, opened: address };
}

it("[MCPCLI-1] lists servers of both kinds, as a table and with the Codex CLI's fields, without secret values", async () => {
  const home = await homeWith(
    mcpServer("own", MCP_PROGRAM, [], ['env = { KEY = "planted-value" }', "enabled = false"]),
    '[mcp_servers.wiki]\nurl = "http://127.0.0.1:1/mcp"\nbearer_token_env_var = "WIKI_TOKEN"',
    'http_headers = { "X-Key" = "planted-value" }',
    stage.table,
  );
  const shown = await mcp(home, "list");
  expect(shown).toEqual(
    ok(expect.stringMatching(/Name +Command +Env +Status +Auth\n {2}own .*KEY=\*{5} +disabled +-\n/)),
  );
  expect(shown.stdout).toMatch(
    /files +http:\S+ +- +enabled +not logged in\n {2}wiki +http:\S+ +WIKI_TOKEN +enabled +bearer token\n/,
  );
  const { stdout } = await mcp(home, "list", "--json");
  const listed = JSON.parse(stdout);
  expect(listed.map(({ name, auth_status }: Record<string, string>) => [name, auth_status])).toEqual([
    ["files", "not_logged_in"],
    ["own", "unsupported"],
    ["wiki", "bearer_token"],
  ]);
  expect(listed[2].transport).toEqual({
    type: "streamable_http",
    url: "http://127.0.0.1:1/mcp",
    bearer_token_env_var: "WIKI_TOKEN",
    http_headers: { "x-key": "*****" },
    env_http_headers: null,
    http_headers_helper: null,
  });
  const details = await mcp(home, "get", "own");
  expect(details.stdout).toContain("env: KEY=*****");
  const { transport } = JSON.parse((await mcp(home, "get", "own", "--json")).stdout);
  expect(transport).toMatchObject({ type: "stdio", command: process.execPath, env: { KEY: "*****" } });
  for (const { stdout: text } of [shown, details]) expect(text).not.toContain("planted-value");
  expect(stdout).not.toContain("planted-value");
  expect(await mcp(home, "get", "nobody")).toMatchObject({
    code: 1,
    stderr: "bobbin: No MCP server named 'nobody' found. See bobbin mcp list.\n",
  });
  expect((await mcp(await freshFolder(), "list")).stdout).toContain("bobbin mcp add NAME -- COMMAND");
});

const FILE = `# mine
model_provider = "offline" # for now

# my servers
[mcp_servers.zed]
command = "zed" # here

# about the desktop
[desktop]
theme = "dark"
`;

it("[MCPCLI-2] adds and removes servers, and leaves all else in the file as it is", async () => {
  const home = await homeWith(FILE.trimEnd());
  const path = join(home, "config.toml");
  const read = () => readFile(path, "utf8");
  expect(await mcp(home, "add", "one", "--env", "A=b=c", "--", "npx", "-y", "thing", "--flag")).toEqual(
    ok(`Added MCP server 'one': ${path}\n`),
  );
  const one = `\n[mcp_servers.one]\ncommand = "npx"\nargs = ["-y", "thing", "--flag"]\n\n[mcp_servers.one.env]\nA = "b=c"\n`;
  expect(await read()).toBe(FILE.replace("# here\n", `# here\n${one}`));
  await mcp(home, "add", "two", "--url", "http://127.0.0.1:1/mcp", "--bearer-token-env-var", "TOKEN");
  expect(await read()).toContain(
    `\n[mcp_servers.two]\nurl = "http://127.0.0.1:1/mcp"\nbearer_token_env_var = "TOKEN"\n`,
  );
  const oauth = ["--oauth-client-id", "id", "--oauth-client-secret", "s", "--oauth-resource", "urn:x"];
  await mcp(home, "add", "two", "--url", "http://127.0.0.1:1/mcp", ...oauth);
  expect(await read()).toContain(
    `\n[mcp_servers.two]\nurl = "http://127.0.0.1:1/mcp"\noauth_resource = "urn:x"\n\n[mcp_servers.two.oauth]\nclient_id = "id"\nclient_secret = "s"\n`,
  );
  for (const name of ["one", "two"])
    expect(await mcp(home, "remove", name)).toEqual(ok(`Removed MCP server '${name}': ${path}\n`));
  expect(await read()).toBe(FILE);
  expect(await mcp(home, "remove", "one")).toEqual(ok("No MCP server named 'one' found.\n"));
  const fresh = await freshFolder();
  await mcp(fresh, "add", "one", "--", "true");
  expect(await readFile(join(fresh, "config.toml"), "utf8")).toBe('[mcp_servers.one]\ncommand = "true"\n');
});

it("[MCPCLI-2] refuses an invalid server, and writes nothing", async () => {
  const home = await homeWith(FILE.trimEnd());
  const wrong: [string[], number, string][] = [
    [["x"], 2, "A server has an address (--url URL) or a program (-- COMMAND)."],
    [["x", "--url", "http://127.0.0.1:1", "--", "y"], 2, "either an address"],
    [["x", "--url", "http://127.0.0.1:1", "--env", "A=b"], 2, "--env is for servers with a program."],
    [["x", "--env", "A", "--", "y"], 2, "--env A: expected KEY=VALUE."],
    [["x", "--oauth-client-id", "a", "--", "y"], 2, "are for servers with an address"],
    [["x", "--url", "nowhere"], 1, "mcp_servers.x.url: expected an http:// or https:// address"],
    [["a.b", "--", "y"], 1, 'has 1 to 64 letters, digits, "-" and "_"'],
  ];
  for (const [args, code, words] of wrong) {
    const run = await mcp(home, "add", ...args);
    expect([run.code, run.stderr]).toEqual([code, expect.stringContaining(words)]);
  }
  expect(await readFile(join(home, "config.toml"), "utf8")).toBe(FILE);
});

it("[MCPCLI-3] logs in with a browser, which a host that runs sees, and out again", async () => {
  const home = await stage.home();
  const { client } = await stdioHost({ home });
  const status = async () => {
    const { data } = await client.call("mcpServerStatus/list", {});
    return [data[0].authStatus, data[0].runtimeStatus];
  };
  expect(await status()).toEqual(["notLoggedIn", "authenticationRequired"]);
  const { run, opened } = await onTerminal(home, ["login", "files", "--scopes", "files, openid"]);
  await run.shows("Waiting for your browser …");
  const address = await opened();
  expect(run.shown).toContain(`To log in to files, open this address:\n\n  ${address}\n`);
  expect(new URL(address).searchParams.get("scope")).toBe("files openid offline_access");
  await browse(address);
  expect(await run.ended).toMatchObject({ code: 0 });
  expect(run.shown).toContain("Logged in to files.\n");
  expect((await mcp(home, "list")).stdout).toMatch(/files .* logged in\n/);
  await eventuallyPasses(async () => expect(await status()).toEqual(["oAuth", "connected"]));
  const { accessToken } = await storedLogin(home);
  expect(await mcp(home, "logout", "files")).toEqual(ok("Logged out of files.\n"));
  expect(await stage.authorization.isRevoked(accessToken)).toBe(true);
  expect((await status())[0]).toBe("notLoggedIn");
  expect(await mcp(home, "logout", "files")).toEqual(ok("Nobody was logged in to files.\n"));
});

it("[MCPCLI-3] gives loaded threads the server at their next turn", async () => {
  const home = await stage.home();
  const { client } = await stdioHost({ home });
  const threadId = await client.startThread();
  const statuses = () => client.told("mcpServer/startupStatus/updated").map(({ params }) => params.status);
  await client.until(() => statuses().includes("failed"), "it wants a login");
  const { run, opened } = await onTerminal(home, ["login", "files"]);
  await browse(await opened());
  expect(await run.ended).toMatchObject({ code: 0 });
  await client.turn(threadId, "Hello!");
  await client.until(() => statuses().at(-1) === "ready", "it is connected");
});

it("[MCPCLI-3] accepts the pasted URL of a browser on another machine", async () => {
  const home = await stage.home();
  const { run } = await onTerminal(home, ["login", "files", "--no-browser"]);
  await run.shows("Paste that URL here:");
  const address = /(http:\S+\/auth\S*)/.exec(run.shown)![1]!;
  const back = await browseUntil(address, ({ pathname }) => pathname.startsWith("/callback/"));
  await run.type("http://127.0.0.1/callback?code=x&state=wrong\n");
  await run.shows("This is not the address");
  await run.type(`${back}\n`);
  expect(await run.ended).toMatchObject({ code: 0 });
  expect(run.shown).toContain("Logged in to files.\n");
  const nobody = await mcp(home, "login", "files", "--no-browser");
  expect([nobody.code, nobody.stderr]).toEqual([
    1,
    "bobbin: Cannot log in to files: The input ended before the URL was pasted.\n",
  ]);
});

it("[MCPCLI-3] logs in to a server that was just added on a terminal, and names the command elsewhere", async () => {
  const home = await freshFolder();
  const { url } = stage.server;
  const { run, opened } = await onTerminal(home, ["add", "files", "--url", url]);
  await run.shows("Waiting for your browser …");
  await browse(await opened());
  expect(await run.ended).toMatchObject({ code: 0 });
  const { accessToken } = await storedLogin(home);
  await mcp(home, "remove", "files");
  expect(await stage.authorization.isRevoked(accessToken)).toBe(true);
  const { stdout } = await mcp(home, "add", "files", "--url", url);
  expect(stdout).toContain("Log in with: bobbin mcp login files\n");
});

it("[MCPCLI-3] says why a login is not possible", async () => {
  const home = await homeWith(
    mcpServer("own", MCP_PROGRAM),
    '[mcp_servers.away]\nurl = "http://127.0.0.1:1/mcp"',
  );
  expect(await mcp(home, "login", "own")).toMatchObject({
    code: 1,
    stderr:
      "bobbin: Cannot log in to own: own is a program on this machine; only servers with a url have logins.\n",
  });
  expect(await mcp(home, "login", "away")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^bobbin: Cannot log in to away: http:\/\/127\.0\.0\.1:1\/mcp cannot be reached: /,
    ),
  });
  stage.authorization.person = "denies";
  const { run, opened } = await onTerminal(await stage.home(), ["login", "files"]);
  await run.shows("Waiting for your browser …");
  await browse(await opened());
  expect(await run.ended).toMatchObject({ code: 1 });
  expect(run.shown).toContain("Cannot log in to files: The login was denied: The person said no.\n");
});

it("[MCPCLI-4] shows what a server offers, and how long it took", async () => {
  const home = await homeWith(mcpServer("every", EVERYTHING, ["stdio"]));
  const { code, stdout } = await mcp(home, "test", "every");
  expect(code).toBe(0);
  expect(stdout).toMatch(/✓ every {2}\S+ \S+ stdio\n {4}mcp-servers\/everything \S+, connected in \d+ ms\n/);
  expect(stdout).toMatch(/ {4}\d+ tools, listed in \d+ ms\n {6}echo +Echoes back the input string\n/);
  expect(stdout).toMatch(/ {4}\d+ resources, \d+ templates, listed in \d+ ms\n/);
  const report = JSON.parse((await mcp(home, "test", "every", "--json")).stdout);
  expect(report).toMatchObject({
    name: "every",
    works: true,
    serverInfo: { name: "mcp-servers/everything" },
  });
  expect(report.timingsMs).toEqual({
    connect: expect.any(Number),
    tools: expect.any(Number),
    resources: expect.any(Number),
  });
});

/** What is wrong, and what to do, by server. */
const BROKEN: Record<string, { table: string; says: string[] }> = {
  missing: {
    table: '[mcp_servers.missing]\ncommand = "no-such-program"',
    says: ["The program no-such-program was not found.", "correct mcp_servers.missing.command"],
  },
  folder: {
    table: '[mcp_servers.folder]\ncommand = "true"\ncwd = "/no/such/folder"',
    says: ["The folder /no/such/folder does not exist.", "Correct mcp_servers.folder.cwd."],
  },
  dies: {
    table: `[mcp_servers.dies]\ncommand = "sh"\nargs = ["-c", "echo one >&2; echo the reason >&2; exit 3"]`,
    says: ["its process exited with code 3.", "stderr: the reason", "Run it in a terminal"],
  },
  token: {
    table: '[mcp_servers.token]\nurl = "http://127.0.0.1:1/mcp"\nbearer_token_env_var = "NO_SUCH_TOKEN"',
    says: ["The variable NO_SUCH_TOKEN is not set."],
  },
  away: {
    table: '[mcp_servers.away]\nurl = "http://127.0.0.1:1/mcp"',
    says: ["http://127.0.0.1:1 cannot be reached", "Start the server, or correct mcp_servers.away.url"],
  },
  silent: {
    table: '[mcp_servers.silent]\ncommand = "cat"\nstartup_timeout_sec = 1',
    says: ["It did not reply within 1 s.", "raise mcp_servers.silent.startup_timeout_sec"],
  },
};

it("[MCPCLI-4] says what is wrong with a server, and what to do", async () => {
  const page = await webPage();
  const home = await stage.home(
    ...Object.values(BROKEN).map(({ table }) => table),
    `[mcp_servers.page]\nurl = "${page}"`,
    '[mcp_servers.both]\nurl = "http://127.0.0.1:1/mcp"\ncommand = "true"',
  );
  const expected: Record<string, string[]> = {
    ...Object.fromEntries(Object.entries(BROKEN).map(([name, { says }]) => [name, says])),
    page: [
      "It does not speak MCP at this address: it replied with text/html.",
      "correct mcp_servers.page.url",
    ],
    files: ["It wants a login (HTTP 401).", "→ bobbin mcp login files"],
  };
  for (const [name, words] of Object.entries(expected)) {
    const { code, stdout } = await mcp(home, "test", name);
    expect(code).toBe(1);
    for (const word of words) expect(stdout.toLowerCase()).toContain(word.toLowerCase());
  }
  expect(await mcp(home, "test", "both")).toMatchObject({
    code: 1,
    stderr: "bobbin: mcp_servers.both.url cannot be set beside mcp_servers.both.command\n",
  });
  const { code, stdout } = await runBobbin(["doctor", "--json"], { env: { BOBBIN_HOME: home } });
  const { checks } = JSON.parse(stdout) as {
    checks: { name: string; status: string; found: string; advice?: string }[];
  };
  expect(code).toBe(0);
  for (const [name, words] of Object.entries(expected)) {
    const { status, found, advice } = checks.find((one) => one.name === `mcp ${name}`)!;
    expect(status).toBe("warning");
    for (const word of words) expect(`${found} → ${advice}`.toLowerCase()).toContain(word.toLowerCase());
  }
  expect(checks.find(({ name }) => name === "mcp")?.found).toContain("mcp_servers.both.url cannot be set");
});

it("[MCPCLI-4] finds servers that work in order, those that need a login, too", async () => {
  const home = await stage.home(
    mcpServer("own", MCP_PROGRAM),
    mcpServer("off", "nowhere", [], ["enabled = false"]),
  );
  const { run, opened } = await onTerminal(home, ["login", "files"]);
  await run.shows("Waiting for your browser …");
  await browse(await opened());
  await run.ended;
  expect((await mcp(home, "test", "files")).stdout).toMatch(/✓ files .*\n.*connected in/);
  const { stdout } = await runBobbin(["doctor"], { env: { BOBBIN_HOME: home } });
  expect(stdout).toMatch(/✓ mcp files +\d+ tools, in \d+ ms\n/);
  expect(stdout).toMatch(/✓ mcp off +disabled\n/);
  expect(stdout).toMatch(/✓ mcp own +\d+ tools, in \d+ ms\n/);
});

/** The address of what is no MCP server. */
async function webPage(): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<h1>Hello</h1>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
