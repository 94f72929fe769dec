// A host is killed at random moments under load, again and again on the same home: nothing that was
// acknowledged is missing, every accepted turn has one end, and the index is what a rebuild makes.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { Random } from "../simulation/random.ts";
import { type Known, Worker } from "../support/acknowledged.ts";
import { claims, expectIndexLikeRebuilt, restarted } from "../support/after-crash.ts";
import { freshFolder } from "../support/folder.ts";
import { LONG, times } from "../support/long-form.ts";
import { STUCK_MS } from "../support/patience.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

const KILLS = times(8, 50);
const WORKERS = 3;

const seed = Number(process.env.BOBBIN_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** Holds what was acknowledged against what is there, and takes over what is there where either was allowed. */
async function expectKept(client: WireClient, thread: Known): Promise<void> {
  const { result, error } = await client.request("thread/read", { threadId: thread.id, includeTurns: true });
  const { pending } = thread;
  delete thread.pending;
  if (thread.deleted || (pending?.deleted && error !== undefined)) {
    thread.deleted = true;
    expect(error?.message).toBe(`thread not loaded: ${thread.id}`);
    return;
  }
  expect(error).toBeUndefined();
  const found = result.thread;
  expect([thread.name, ...(pending?.name === undefined ? [] : [pending.name])]).toContain(found.name);
  thread.name = found.name;
  const archived = found.path.includes("archived_sessions");
  expect([thread.archived, ...(pending?.archived === undefined ? [] : [pending.archived])]).toContain(
    archived,
  );
  thread.archived = archived;
  expect(found.status).toEqual({ type: "notLoaded" });

  const ids: string[] = found.turns.map(({ id }: { id: string }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const journal = await readFile(found.path, "utf8");
  for (const { id, status, completedAt } of found.turns as Received["result"][]) {
    expect(["completed", "interrupted"], `end of ${id}`).toContain(status);
    expect(completedAt).not.toBeNull();
    expect(journal.split(`{"type":"turnEnded","turnId":"${id}"`), `ends of ${id}`).toHaveLength(2);
    // An end that was told stays what it was.
    const told = thread.turns.get(id);
    if (told !== undefined) expect(status).toBe(told);
    thread.turns.set(id, status);
  }
  expect(ids).toEqual(expect.arrayContaining([...thread.turns.keys()]));
}

it(`[CRASH-1] [CRASH-2] [CRASH-3] [CRASH-4] a host that is killed ${KILLS} times keeps what it acknowledged (seed ${seed})`, {
  timeout: STUCK_MS,
}, async () => {
  process.stderr.write(`crash test: ${KILLS} kills, BOBBIN_SEED=${seed}\n`);
  const home = await freshFolder();
  const random = new Random(seed);
  const workers = Array.from({ length: WORKERS }, () => new Worker(new Random(random.uint32())));
  let { host, client } = await restarted(home);
  for (let kill = 0; kill < KILLS; kill++) {
    const clients = await Promise.all(workers.map(() => host.join(undefined, { experimentalApi: true })));
    const working = workers.map((worker, at) => worker.work(clients[at]!));
    // The moment is what is random here.
    await wait(random.between(1, 250));
    await host.kill();
    await Promise.all(working);
    expect(workers.flatMap(({ refusals }) => refusals)).toEqual([]);
    ({ host, client } = await restarted(home));
    for (const { threads } of workers) for (const thread of threads) await expectKept(client, thread);
    for (const { threads } of workers) {
      // Those that were seen to be gone stay gone, and are not asked for again and again.
      threads.splice(0, threads.length, ...threads.filter(({ deleted }) => !deleted));
    }
    if (LONG || kill % 5 === 4) await expectIndexLikeRebuilt(client, home);
  }
  const turns = workers.flatMap(({ threads }) => threads.flatMap((thread) => [...thread.turns]));
  expect(turns.length).toBeGreaterThan(0);
  // Work on, and end in order: nothing is left of who had what. A lock of a host that was killed goes with the
  // start after the one that closed its threads.
  for (const restart of [false, true]) {
    if (restart) ({ host, client } = await restarted(home));
    await client.turn(await client.startThread(), "the end");
    host.signal("SIGTERM");
    expect(await host.exited).toEqual({ code: 0, signal: null });
    expect(await claims(home)).toEqual([]);
  }
  const left = (await readdir(join(home, "live"))).filter((name) => !name.startsWith("takeover"));
  expect(left).toEqual([]);
});
