// Homes of other agents, each imported twice into a home of ours. BOBBIN_UPDATE_GOLDEN=1 writes what is expected.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { overLink } from "@bobbin/client";
import { memoryPair } from "@bobbin/rpc";
import { describe, expect, it } from "vitest";
import { compose } from "../../packages/host/src/compose.ts";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { nodePlatform } from "../../packages/host/src/platform/node.ts";
import { putTree, type Tree, treeOf } from "../support/agent-home.ts";
import { freshFolder } from "../support/folder.ts";
import { type AgentHome, HOMES } from "./homes.ts";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/** A person with a home of another agent, and a client of a host in the same process. */
async function moveIn({ tree, own = {} }: AgentHome) {
  const user = await freshFolder("person");
  const [home, repo] = [join(user, ".bobbin"), join(user, "repo")];
  const named = (given: Tree): Tree =>
    Object.fromEntries(
      Object.entries(given).map(([path, content]) => [
        path,
        isData(content) ? JSON.parse(JSON.stringify(content).replaceAll("{repo}", repo)) : content,
      ]),
    );
  await putTree(user, named(tree));
  await mkdir(home, { recursive: true });
  await putTree(home, own);
  const real = nodePlatform();
  const platform = { ...real, env: {}, machine: { ...real.machine, userHome: user } };
  const { host } = compose({ home, cwd: user, config: readConfig({}), platform, log: QUIET });
  const [ours, theirs] = memoryPair();
  theirs.attach(host.accept(theirs, { transport: "stdio", principal: { kind: "local" } }));
  const client = overLink(ours);
  await client.initialize({ name: "homes", version: "1" }, { experimentalApi: true });
  return { user, home, repo, host, client };
}

function isData(content: unknown): boolean {
  return typeof content === "object" && !(content instanceof Uint8Array);
}

type Client = Awaited<ReturnType<typeof moveIn>>["client"];

async function importOnce(client: Client, from: AgentHome["from"], repo: string) {
  const { items } = await client.request("externalAgentConfig/detect", {
    includeHome: true,
    cwds: [repo],
    maxSessions: 100,
    maxSessionAgeDays: 36_500,
    migrationSource: from,
  });
  if (items.length === 0) return { items, results: [] };
  // The youngest come first, and all files here are as young as each other.
  for (const { details } of items) details?.sessions?.sort((a, b) => (a.path < b.path ? -1 : 1));
  const done = new Promise<unknown>((resolve) => {
    client.on("externalAgentConfig/import/completed", ({ itemTypeResults }) => resolve(itemTypeResults));
  });
  await client.request("externalAgentConfig/import", { migrationItems: items, migrationSource: from });
  return { items, results: await done };
}

const THREAD_FACTS = [
  "preview",
  "name",
  "cwd",
  "createdAt",
  "updatedAt",
  "source",
  "originator",
  "cliVersion",
  "gitInfo",
  "forkedFromId",
  "model",
] as const;
const TURN_FACTS = ["id", "status", "startedAt", "completedAt", "items"] as const;

function picked<T, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, K>;
}

async function threadsOf(client: Client) {
  const threads: unknown[] = [];
  for (const archived of [false, true]) {
    const { data } = await client.request("thread/list", {
      archived,
      limit: 100,
      sortKey: "created_at",
      sortDirection: "asc",
    });
    for (const { id } of data) {
      const { thread } = await client.request("thread/read", { threadId: id, includeTurns: true });
      const turns = thread.turns.map((turn) => picked(turn, TURN_FACTS));
      threads.push({ id, archived, ...picked(thread, THREAD_FACTS), turns });
    }
  }
  return threads;
}

/** What is beside the journals, which are read as threads. */
async function filesOf(user: string): Promise<Record<string, string>> {
  const left = /^\.bobbin\/(threads\.|sessions\/|archived_sessions\/|live\/|incoming\/|import_histories)/;
  return Object.fromEntries(Object.entries(await treeOf(user)).filter(([path]) => !left.test(path)));
}

describe("a home of another agent", () => {
  it("is tested in more than a dozen layouts", () => {
    expect(Object.keys(HOMES).length).toBeGreaterThanOrEqual(12);
  });

  it.each(Object.entries(HOMES))("[IMPORT-12] is imported as ever, and once: %s", async (name, given) => {
    const { user, repo, host, client } = await moveIn(given);
    try {
      const before = await filesOf(user);
      const first = await importOnce(client, given.from, repo);
      const after = await filesOf(user);
      const added = Object.fromEntries(Object.entries(after).filter(([path, text]) => before[path] !== text));
      // Nothing of the other agent is changed or gone.
      for (const [path, text] of Object.entries(before))
        if (!path.startsWith(".bobbin/")) expect(after[path], path).toBe(text);
      const threads = await threadsOf(client);
      const second = await importOnce(client, given.from, repo);
      expect(await filesOf(user)).toEqual(after);
      expect(await threadsOf(client)).toEqual(threads);
      const found = { first, added, threads, left: second };
      const text = `${JSON.stringify(found, null, 1).replaceAll(user, "~")}\n`;
      const path = join(import.meta.dirname, "golden", `${name}.golden`);
      if (process.env.BOBBIN_UPDATE_GOLDEN === "1") {
        await mkdir(join(path, ".."), { recursive: true });
        await writeFile(path, text);
      }
      expect(text).toBe(await readFile(path, "utf8"));
    } finally {
      await client.close();
      await host.close();
    }
  });
});
