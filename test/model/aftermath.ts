import assert from "node:assert/strict";
import type { Log } from "../../packages/host/src/observe/log.ts";
import { fileJournal } from "../../packages/host/src/store/files/file-journal.ts";
import { rebuildRows } from "../../packages/host/src/store/index-rebuild.ts";
import { IndexFile } from "../simulation/memory-index.ts";
import type { SimClient } from "../simulation/sim-client.ts";
import { HOME, type SimHost } from "../simulation/sim-host.ts";
import type { World } from "../simulation/world.ts";
import { checkJournals, journals } from "./journals.ts";
import type { Ledger } from "./ledger.ts";

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Checks that lists show the same as after a rebuild from the journals. */
export async function checkIndex(world: World, { platform }: SimHost): Promise<void> {
  const journal = fileJournal(HOME, platform, SILENT);
  const fresh = new IndexFile();
  const rebuilt = fresh.open();
  for await (const { row, texts } of rebuildRows(journal, SILENT)) await rebuilt.restate(row, texts);
  const [known, expected] = [await world.index.known(), await fresh.known()];
  for (const id of new Set([...known.keys(), ...expected.keys()])) {
    const about = `the index, and what a rebuild says, of thread ${id}`;
    assert.deepEqual(known.get(id), expected.get(id), about);
  }
}

/** Loads and unloads every stored thread once, which must work whatever a crash has left of it. */
export async function useEverything(host: SimHost, threadIds: Iterable<string>): Promise<void> {
  const client = host.connect();
  client.rules.onlyReplies = true;
  await client.initialize({ experimentalApi: true });
  for (const threadId of threadIds) {
    if (await isArchived(client, threadId)) await client.call("thread/unarchive", { threadId });
    await client.call("thread/resume", { threadId });
    // A queued input may have started a turn, and a power cut may have removed the claim of a thread that can
    // continue.
    const { status } = await client.call("thread/unload", { threadId, interrupt: true });
    assert.equal(status, "unloaded", `thread/unload of ${threadId}`);
  }
  const { data } = await client.call("thread/loaded/list");
  assert.deepEqual(data, [], "threads that stay loaded");
  client.leave();
}

/** Ends the turns that outlived their host: the scripted model would never end them. */
export async function endSurvivors(host: SimHost): Promise<void> {
  const client = host.connect();
  client.rules.onlyReplies = true;
  await client.initialize({ experimentalApi: true });
  const { data } = await client.call("thread/loaded/list");
  for (const threadId of data as string[]) {
    const { status } = await client.call("thread/unload", { threadId, interrupt: true });
    // The turn may have ended in between.
    assert(["unloaded", "notLoaded"].includes(status as string), `thread/unload of ${threadId}: ${status}`);
  }
  client.leave();
}

async function isArchived(client: SimClient, threadId: string): Promise<boolean> {
  const { thread } = await client.call("thread/read", { threadId });
  return (thread as { path: string }).path.includes("archived_sessions");
}

/** The threads that have a journal. */
export function storedThreads({ disk }: World): readonly string[] {
  return journals(disk).map((name) => name.slice(-".jsonl".length - 36, -".jsonl".length));
}

/** Checks what must hold after a crash, once the next host has recovered everything. Ends that host. */
export async function checkEnd(world: World, ledger: Ledger, host: SimHost): Promise<void> {
  await world.scheduler.quiet();
  await endSurvivors(host);
  await world.scheduler.quiet();
  ledger.check(world.disk);
  checkJournals(world.disk, { unused: true });
  await checkIndex(world, host);
  await useEverything(host, storedThreads(world));
  await world.scheduler.quiet();
  checkJournals(world.disk);
  await checkIndex(world, host);
  await host.close();
}
