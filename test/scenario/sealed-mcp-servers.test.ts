// Secrets of MCP servers that a client names for a thread: the servers get them, and no file of the home has them.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { filesBelow, freshFolder, tracesOf } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { fakeHttpServer } from "../support/mcp-http.ts";
import { MCP_PROGRAM } from "../support/mcp-stage.ts";
import { unzipped } from "../support/unzipped.ts";
import type { WireClient } from "../support/wire-client.ts";

const EXPERIMENTAL = { experimentalApi: true };
const SECRETS = {
  header: "Bearer planted-mcp-header-0011",
  query: "planted-mcp-query-0012",
  variable: "planted-mcp-variable-0013",
  argument: "planted-mcp-argument-0014",
  unknown: "planted-mcp-unknown-0015",
};
const traces = async (home: string): Promise<string[]> =>
  (await Promise.all(Object.values(SECRETS).map((secret) => tracesOf(home, secret)))).flat();

/** A server on HTTP, and one on stdio that writes down what it was given, outside of the home. */
async function stage() {
  const web = await fakeHttpServer();
  const given = join(await freshFolder("given"), "given");
  const script = 'echo "$KEY $1" >> "$0"; exec "$2" "$3"';
  return {
    web,
    /** What the server on stdio was started with, once for each start. */
    given: async () =>
      (await readFile(given, "utf8").catch(() => "")).split("\n").filter((line) => line !== ""),
    servers: {
      web: {
        url: `${web.url}?key=${SECRETS.query}`,
        http_headers: { authorization: SECRETS.header },
        unknown_key: SECRETS.unknown,
      },
      local: {
        command: "/bin/sh",
        args: ["-c", script, given, SECRETS.argument, process.execPath, MCP_PROGRAM],
        env: { KEY: SECRETS.variable },
      },
    },
  };
}

/** Resolves when both servers have what they need, from here on. */
async function arrives(
  { web, given }: Awaited<ReturnType<typeof stage>>,
  client: WireClient,
  threadId: string,
): Promise<void> {
  for (const server of ["web", "local"]) {
    const call = { threadId, server, tool: "echo", arguments: { message: "hello" } };
    expect(await client.call("mcpServer/tool/call", call)).toMatchObject({ content: [{ text: "hello" }] });
  }
  expect(web.requests.at(-1)?.headers.authorization).toBe(SECRETS.header);
  expect((await given()).at(-1)).toBe(`${SECRETS.variable} ${SECRETS.argument}`);
}

async function begin(home: string): Promise<{ host: HostProcess; client: WireClient }> {
  const env = { LOG_LEVEL: "debug" };
  const host = await spawnHost({ home, env, args: ["--stdio", "--listen", "ws://127.0.0.1:0"] });
  const client = host.stdio();
  await client.initialize(EXPERIMENTAL);
  return { host, client };
}

it("[ACCT-8] reach the servers after a start, a kill and a fork, and are in no file in plain text", async () => {
  const world = await stage();
  const home = await freshFolder();
  await writeFile(join(home, "config.toml"), "");
  const { host, client } = await begin(home);
  const threadId = await client.startThread({ config: { mcp_servers: world.servers } });
  await arrives(world, client, threadId);
  await client.turn(threadId, "Hello");
  await host.kill();
  expect(await traces(home)).toEqual([]);

  const next = await begin(home);
  await next.client.call("thread/resume", { threadId });
  await arrives(world, next.client, threadId);
  const fork = (await next.client.call("thread/fork", { threadId })).thread.id;
  await next.client.call("thread/delete", { threadId });
  await arrives(world, next.client, fork);
  await next.host.kill();
  expect(await traces(home)).toEqual([]);
  expect(await filesBelow(home)).toContainEqual(expect.stringMatching(/^sessions\/.*\.jsonl$/));
});

it("[ACCT-8] are in no reply, log, metric or report either, when they take effect at the next load", async () => {
  const world = await stage();
  const home = await freshFolder();
  await writeFile(join(home, "config.toml"), "");
  const { host, client } = await begin(home);
  const threadId = await client.startThread();
  await client.turn(threadId, "Hello");
  const pending = await client.call("thread/loadSettings/update", { threadId, mcpServers: world.servers });
  expect(Object.keys(pending.pending.mcpServers)).toEqual(["web", "local"]);
  await client.call("thread/unload", { threadId });
  await client.call("thread/resume", { threadId });
  await arrives(world, client, threadId);
  await client.call("thread/read", { threadId, includeTurns: true });
  await client.call("mcpServerStatus/list", { threadId });
  await client.call("config/read", { includeLayers: true });
  await client.call("server/diagnostics");
  const savePath = join(await freshFolder("report"), "report.zip");
  await client.call("feedback/save", { classification: "bug", threadId, includeLogs: true, savePath });
  const report = [...unzipped(await readFile(savePath)).values()].join("\n");
  expect(report).toContain("loadSettingsChanged");
  const metrics = await (await fetch(`${await host.site()}/metrics`)).text();
  const said = [host.stderr, ...client.frames.map(({ text }) => text), report, metrics].join("\n");
  for (const secret of Object.values(SECRETS)) expect(said).not.toContain(secret);
  expect(await traces(home)).toEqual([]);
});

it("[ACCT-8] of a thread whose encryption key is lost omit their servers, with a warning", async () => {
  const world = await stage();
  const home = await freshFolder();
  await writeFile(join(home, "config.toml"), "");
  const { host, client } = await begin(home);
  const threadId = await client.startThread({ config: { mcp_servers: world.servers } });
  await client.turn(threadId, "Hello");
  await host.kill();
  for (const path of await filesBelow(join(home, "credentials")))
    if (path.endsWith(".json")) await writeFile(join(home, "credentials", path), "{}");
  const next = await begin(home);
  await next.client.call("thread/resume", { threadId });
  for (const name of ["web", "local"]) {
    const words = `left out: mcp_servers.${name}: the key`;
    await next.client.waitFor(
      ({ method, params }) => method === "warning" && params.message.includes(words),
      `a warning about ${name}`,
    );
  }
  const { data } = await next.client.call("mcpServerStatus/list", { threadId });
  expect(data).toEqual([]);
});
