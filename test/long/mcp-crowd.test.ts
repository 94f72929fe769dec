import { readdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { times } from "../support/long-form.ts";
import { homeWith, MCP_LIGHT } from "../support/mcp-stage.ts";
import { withMark } from "../support/processes.ts";
import type { WireClient } from "../support/wire-client.ts";

const CROWD = times(200, 1000);

const STATUS = "mcpServer/startupStatus/updated";
const SERVERS = ["one", "two", "three", "four", "five"];

/** A host with five servers, and the processes that it has started. */
async function crowded(): Promise<{
  host: HostProcess;
  client: WireClient;
  servers: () => readonly number[];
}> {
  const tables = SERVERS.map((name) => `[mcp_servers.${name}]\ncommand = "${MCP_LIGHT}"\nargs = ["${name}"]`);
  const home = await homeWith(...tables);
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
  const client = await host.join(undefined, { experimentalApi: true });
  const servers = (): readonly number[] => {
    const [mark] = readdirSync(join(home, "processes")).map((name) => name.replace(".lock", ""));
    return mark === undefined ? [] : withMark(mark);
  };
  return { host, client, servers };
}

async function start(client: WireClient, folders: readonly string[], count: number): Promise<string[]> {
  const starts = Array.from({ length: count }, (_, nth) =>
    client.call("thread/start", { cwd: folders[nth % folders.length] }),
  );
  return (await Promise.all(starts)).map(({ thread }) => thread.id);
}

const ready = (client: WireClient): number =>
  client.told(STATUS).filter(({ params }) => params.status === "ready").length;

it("[MCP-2] [MCP-3] serves a crowd of threads in a folder with five processes, and none when they are unloaded", async () => {
  const { client, servers } = await crowded();
  const folder = await freshFolder("work");
  const threads = await start(client, [folder], CROWD);
  await eventually(() => ready(client) === 5 * CROWD, "each thread has heard that its servers are ready");
  expect(servers().length).toBe(5);
  await Promise.all(threads.map((threadId) => client.call("thread/unload", { threadId })));
  await eventually(() => servers().length === 0, "no server is left");
});

it("[MCP-2] [MCP-3] serves a crowd of threads in ten folders with fifty processes, and none after a kill", async () => {
  const { client, servers, host } = await crowded();
  const work = await freshFolder("work");
  const folders = Array.from({ length: 10 }, (_, nth) => join(work, String(nth)));
  for (const folder of folders) await mkdir(folder);
  await start(client, folders, CROWD);
  await eventually(() => ready(client) === 5 * CROWD, "each thread has heard that its servers are ready");
  expect(servers().length).toBe(50);
  await host.kill();
  await eventually(() => servers().length === 0, "no server outlives the host");
});
