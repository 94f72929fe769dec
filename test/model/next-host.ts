// Lets the next host recover after a crash, and checks what must hold then.
import assert from "node:assert/strict";
import { notify } from "../../packages/host/src/core/notify.ts";
import type { ThreadRecord } from "../../packages/host/src/core/records.ts";
import type { World } from "../simulation/world.ts";
import { checkEnd } from "./aftermath.ts";
import { commitsOf, journals, recordsOf } from "./journals.ts";
import { owed } from "./owed.ts";
import type { SceneStage } from "./stage.ts";

/** Longer than any tool takes. */
const LONG_MS = 2 * 60 * 60_000;

/** The journals of threads that no other thread has started. */
function rootJournals({ disk }: World): readonly string[] {
  return journals(disk).filter((path) => {
    const [created] = recordsOf(disk, path);
    return (created!.facts as { parentThreadId: unknown }).parentThreadId === null;
  });
}

function threadOf(path: string): string {
  return path.slice(-".jsonl".length - 36, -".jsonl".length);
}

/**
 * Starts the next host, first without a client, then with one that follows all threads, until nothing more happens.
 */
export async function goOn(stage: SceneStage): Promise<void> {
  const { world } = stage;
  await stage.startAlone();
  await world.sleep(LONG_MS);
  await world.scheduler.quiet();
  for (const path of journals(world.disk)) {
    const left = owed(recordsOf(world.disk, path));
    // Requests wait for a client, and so does the queue of a thread that is not loaded.
    if (left.some((one) => one.startsWith("requestSent "))) continue;
    const undone = left.filter((one) => !one.startsWith("submissionQueued "));
    assert.deepEqual(undone, [], `what ${path} asks for and a host that is alone has not done`);
  }
  await stage.connect();
  const roots = rootJournals(world).map(threadOf);
  for (const threadId of roots) {
    const afterCursor = [...(stage.heard.get(threadId)?.keys() ?? [])].at(-1);
    await stage.client.call("thread/resume", {
      threadId,
      ...(afterCursor !== undefined && { afterCursor, excludeTurns: true }),
    });
  }
  await world.sleep(LONG_MS);
  for (const threadId of roots) {
    const { data } = await stage.client.call("thread/queue/list", { threadId });
    // A turn that the crash cut off has paused the queue.
    if ((data as unknown[]).length > 0) await stage.client.call("thread/queue/start", { threadId });
  }
  await world.sleep(LONG_MS);
  await world.scheduler.quiet();
}

/** Records that start and end loads. They are not part of the feed. */
const BESIDE_FEED: ReadonlySet<string> = new Set(["opened", "adopted", "closed"]);

/**
 * Checks that a client that reconnects with its last cursor has got every durable notification since its first one.
 */
function checkFeed({ world, heard }: SceneStage, path: string): void {
  const threadId = threadOf(path);
  const known = heard.get(threadId);
  const first = known && Number([...known.keys()][0]!.split(".")[1]);
  for (const { seq, epoch, records } of commitsOf(world.disk, path)) {
    if (first === undefined || seq <= first) continue;
    let index = 0;
    for (const record of records as unknown as readonly ThreadRecord[]) {
      for (const { method } of notify(threadId, record)) {
        const cursor = `${epoch}.${seq}.${index++}`;
        if (BESIDE_FEED.has(record.type)) continue;
        assert.equal(known!.get(cursor), method, `what was sent of ${record.type} (${cursor}) in ${path}`);
      }
    }
  }
}

export async function checkAfterwards(stage: SceneStage, kind: "kill" | "power"): Promise<void> {
  const { world, ledger, host, client } = stage;
  ledger.check(world.disk);
  // Notifications that a power cut removed are not sent again.
  if (kind === "kill") for (const path of rootJournals(world)) checkFeed(stage, path);
  for (const path of journals(world.disk)) {
    assert.deepEqual(owed(recordsOf(world.disk, path)), [], `what ${path} asks for and nobody has done`);
  }
  client.leave();
  await checkEnd(world, ledger, host);
}
