// Where the MCP servers of a thread come from.
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder, markRepository } from "../support/folder.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import { homeWith, MCP_LIGHT } from "../support/mcp-stage.ts";
import { KEY, signedBearer } from "../support/signed-token.ts";
import type { WireClient } from "../support/wire-client.ts";

const capabilities = { experimentalApi: true };
const light = (name: string, ...more: readonly string[]): string =>
  [`[mcp_servers.${name}]`, `command = "${MCP_LIGHT}"`, ...more].join("\n");
const entry = { command: MCP_LIGHT };

/** The servers that a thread has, or those of a connection. */
async function servers(client: WireClient, threadId?: string): Promise<string[]> {
  const { data } = await client.call("mcpServerStatus/list", { threadId, detail: "toolsAndAuthOnly" });
  return data.map(({ name, runtimeStatus }: { name: string; runtimeStatus: string }) =>
    // One that is known is started when it is called.
    runtimeStatus === "connected" || runtimeStatus === "notStarted" ? name : `${name}: ${runtimeStatus}`,
  );
}

describe("the MCP servers of a thread", () => {
  it("[MCP-11] are those of config.toml and of the command line", async () => {
    const home = await homeWith(light("file"), light("off", "enabled = false"));
    const { client } = await stdioHost({
      home,
      args: ["-c", `mcp_servers.flag.command=${MCP_LIGHT}`],
      capabilities,
    });
    const threadId = await client.startThread();
    expect(await servers(client, threadId)).toEqual(["file", "flag", "off: disabled"]);
    expect(await servers(client)).toEqual(["file", "flag", "off: disabled"]);
  });

  it("[MCP-11] are changed by config.mcp_servers of thread/start, for that thread", async () => {
    const home = await homeWith(light("a"), light("b"));
    const { client } = await stdioHost({ home, capabilities });
    const start = async (config: object) => (await client.call("thread/start", { config })).thread.id;
    const nested = await start({ mcp_servers: { own: entry, b: { enabled: false } } });
    const dotted = await start({ "mcp_servers.own.command": MCP_LIGHT, "mcp_servers.a": false });
    expect(await servers(client, nested)).toEqual(["a", "b: disabled", "own"]);
    expect(await servers(client, dotted)).toEqual(["b", "own"]);
    expect(await servers(client, await client.startThread())).toEqual(["a", "b"]);
    const { message, data } = await client.refusal("thread/start", {
      config: { mcp_servers: { x: { command: 1 } } },
    });
    expect(message).toContain("mcp_servers.x.command: expected a string");
    expect(data.code).toBe("badConfig");
  });

  it("[MCP-11] are changed by thread/loadSettings/update, from the next load on", async () => {
    const { client } = await stdioHost({ home: await homeWith(light("a")), capabilities });
    const threadId = await client.startThread();
    await client.turnCompleted(await client.say(threadId, "Hello!"));
    await client.call("thread/loadSettings/update", { threadId, mcpServers: { own: entry } });
    expect(await servers(client, threadId)).toEqual(["a"]);
    const refused = await client.refusal("thread/loadSettings/update", { threadId, mcpServers: { own: {} } });
    expect(refused.message).toContain("mcp_servers.own.command");
    await client.call("thread/unload", { threadId });
    await client.call("thread/resume", { threadId });
    expect(await servers(client, threadId)).toEqual(["a", "own"]);
  });

  it("[MCP-11] are those of a project if it is trusted, and not otherwise", async () => {
    const [trusted, other] = [await freshFolder("trusted"), await freshFolder("other")];
    for (const folder of [trusted, other]) {
      markRepository(folder);
      await mkdir(join(folder, "sub", ".bobbin"), { recursive: true });
      await mkdir(join(folder, ".codex"));
      await writeFile(
        join(folder, ".codex", "config.toml"),
        `${light("root")}\n[mcp_servers.bad]\ncommand = 1\n`,
      );
      await writeFile(join(folder, "sub", ".bobbin", "config.toml"), light("sub"));
    }
    const home = await homeWith(light("own"));
    const { client } = await stdioHost({ home, capabilities });
    const digest = async (path: string) =>
      `sha256:${createHash("sha256")
        .update(await readFile(join(trusted, path)))
        .digest("hex")}`;
    const paths = [".codex/config.toml", "sub/.bobbin/config.toml"];
    const trusts = async (): Promise<void> => {
      const files = await Promise.all(paths.map(async (path) => [path, await digest(path)]));
      const value = { trust_level: "trusted", trusted_files: Object.fromEntries(files) };
      const keyPath = `projects."${trusted}"`;
      await client.call("config/value/write", { keyPath, value, mergeStrategy: "replace" });
    };
    await trusts();
    const start = async (cwd: string) => (await client.call("thread/start", { cwd })).thread.id;
    expect(await servers(client, await start(join(trusted, "sub")))).toEqual(["own", "root", "sub"]);
    const { params } = await client.waitFor(({ method }) => method === "warning", "a warning");
    expect(params.message).toBe(
      "An MCP server is left out: mcp_servers.bad.command: expected a string, found 1",
    );
    expect(await servers(client, await start(trusted))).toEqual(["own", "root"]);
    expect(await servers(client, await start(join(other, "sub")))).toEqual(["own"]);
    // A file that has changed since is not the one that was trusted.
    await writeFile(join(trusted, "sub", ".bobbin", "config.toml"), `${light("sub")}\n${light("more")}\n`);
    expect(await servers(client, await start(join(trusted, "sub")))).toEqual(["own", "root"]);
    await trusts();
    expect(await servers(client, await start(join(trusted, "sub")))).toEqual(["more", "own", "root", "sub"]);
  });

  it("[MCP-10] omit wrong entries; each client is warned", async () => {
    const home = await homeWith(light("good"), light("bad", 'startup_timeout_sec = "soon"'));
    const { client } = await stdioHost({ home, capabilities });
    const { params } = await client.waitFor(({ method }) => method === "configWarning", "a warning");
    expect(params.summary).toContain("mcp_servers.bad.startup_timeout_sec: expected seconds");
    expect(await servers(client, await client.startThread())).toEqual(["good"]);
  });

  it("[MCP-13] follow config/mcpServer/reload, also in threads that are loaded", async () => {
    const home = await homeWith(light("a"), light("b"));
    const { client } = await stdioHost({ home, capabilities });
    const [first, second] = [await client.startThread(), await client.startThread()];
    expect(await servers(client, first)).toEqual(["a", "b"]);
    await writeFile(join(home, "config.toml"), `${light("b")}\n${light("c")}\n`);
    expect(await servers(client, first)).toEqual(["a", "b"]);
    expect(await client.call("config/mcpServer/reload")).toEqual({});
    await eventually(
      async () => (await servers(client, second)).join() === "b,c",
      "the new servers are there",
    );
    expect(await servers(client, first)).toEqual(["b", "c"]);
    await writeFile(join(home, "config.toml"), "[");
    expect((await client.refusal("config/mcpServer/reload")).data.code).toBe("badConfig");
    expect(await servers(client, first)).toEqual(["b", "c"]);
  });

  it("[WRITE-5] follow a write with reloadUserConfig in threads that are loaded", async () => {
    const { client } = await stdioHost({ home: await homeWith(light("a")), capabilities });
    const threadId = await client.startThread();
    expect(await servers(client, threadId)).toEqual(["a"]);
    const edits = [{ keyPath: "mcp_servers.b", value: entry, mergeStrategy: "replace" }];
    await client.call("config/batchWrite", { edits, reloadUserConfig: true });
    await client.waitFor(({ params }) => params?.name === "b" && params.status === "ready", "it is ready");
    expect(await servers(client, threadId)).toEqual(["a", "b"]);
  });

  it("[MCP-13] follow config/mcpServer/reload in threads that had none, with their next turn", async () => {
    const home = await homeWith("");
    const { client } = await stdioHost({ home, capabilities });
    const threadId = await client.startThread();
    expect(await servers(client, threadId)).toEqual([]);
    await writeFile(join(home, "config.toml"), light("late"));
    await client.call("config/mcpServer/reload");
    await client.turnCompleted(await client.say(threadId, "Hello!"));
    await client.waitFor(({ params }) => params?.name === "late" && params.status === "ready", "it is ready");
  });
});

describe("a subject", () => {
  it("[MCP-14] has the servers that [subjects] names, its own if allowed, and separate processes", async () => {
    const home = await homeWith(
      light("private"),
      light("shared"),
      `[subjects]\nmcp_servers = ["shared"]`,
      `[subjects.bob]\nallow = ["mcp-servers"]`,
    );
    await writeFile(join(home, "key"), KEY);
    const auth = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", join(home, "key")];
    const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0", ...auth] });
    const join_ = async (subject: string) => {
      const client = await host.connect(undefined, signedBearer(subject));
      await client.initialize(capabilities);
      return client;
    };
    const [ann, bob] = [await join_("ann"), await join_("bob")];
    const mcpServers = { own: entry };
    expect(await servers(ann)).toEqual(["shared"]);
    expect(await servers(ann, await ann.startThread())).toEqual(["shared"]);
    const update = { threadId: await ann.startThread(), mcpServers };
    expect((await ann.refusal("thread/loadSettings/update", update)).data.code).toBe("notGranted");
    const { thread } = await ann.call("thread/start", { config: { mcp_servers: mcpServers } });
    expect(await servers(ann, thread.id)).toEqual(["shared"]);
    const bobs = await bob.call("thread/start", { config: { mcp_servers: mcpServers } });
    expect(await servers(bob, bobs.thread.id)).toEqual(["own", "shared"]);
    // In the same folder: each owner has a process, which all of its threads share.
    const pid = async (client: WireClient, threadId: string): Promise<string> => {
      const params = { threadId, server: "shared", tool: "pid" };
      return (await client.call("mcpServer/tool/call", params)).content[0].text;
    };
    const anns = [await pid(ann, thread.id), await pid(ann, await ann.startThread())];
    expect(anns[0]).toMatch(/^\d+$/);
    expect(anns[1]).toBe(anns[0]);
    expect(await pid(bob, bobs.thread.id)).not.toBe(anns[0]);
    const env = { own: { ...entry, env_vars: ["PATH"] } };
    const refused = await bob.refusal("thread/start", { config: { mcp_servers: env } });
    expect(refused.message).toContain("mcp_servers.own.env_vars");
    expect((await bob.refusal("config/mcpServer/reload")).data.code).toBe("notPermitted");
    expect((await ann.refusal("mcpServerStatus/list", { threadId: bobs.thread.id })).data.code).toBe(
      "threadNotFound",
    );
  });
});
