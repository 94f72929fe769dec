// Headers of tool servers that a thread brings along: servers get them, and no file has them.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder, tracesOf } from "../support/folder.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import { FakeToolServer } from "../support/tool-server.ts";

const TOOLSET = "/.well-known/rap-toolset";
const SECRET = "Bearer planted-header-0007";
const EXPERIMENTAL = { experimentalApi: true };

it("[ACCT-7] reach the server after a start, a restart and a fork, and are in no file in plain text", async () => {
  const desk = await FakeToolServer.start({ look: {} });
  const home = await freshFolder();
  await writeFile(join(home, "config.toml"), "");
  const { host, client } = await stdioHost({ home, capabilities: EXPERIMENTAL });
  const toolServers = { desk: { url: desk.url, headers: { authorization: SECRET } } };
  const threadId = await client.startThread({ toolServers });
  expect((await desk.next(TOOLSET)).headers.authorization).toBe(SECRET);
  await client.turn(threadId, "Hello");
  const pending = await client.call("thread/loadSettings/update", { threadId, toolServers });
  expect(JSON.stringify(pending)).not.toContain(SECRET);
  await host.kill();
  expect(await tracesOf(home, SECRET)).toEqual([]);

  const next = await spawnHost({ home });
  const again = next.stdio();
  await again.initialize(EXPERIMENTAL);
  await again.call("thread/resume", { threadId });
  expect((await desk.next(TOOLSET)).headers.authorization).toBe(SECRET);
  const fork = await again.call("thread/fork", { threadId });
  expect((await desk.next(TOOLSET)).headers.authorization).toBe(SECRET);
  await again.call("thread/delete", { threadId });
  await again.call("thread/unload", { threadId: fork.thread.id });
  await again.call("thread/resume", { threadId: fork.thread.id });
  expect((await desk.next(TOOLSET)).headers.authorization).toBe(SECRET);
  expect(await tracesOf(home, SECRET)).toEqual([]);
  expect(next.stderr).not.toContain(SECRET);
});
