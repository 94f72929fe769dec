// Loaded here: the scheduler does not see what a host waits for outside of it.
import "../../packages/host/src/config/edit/config-writer.ts";
import "../../packages/host/src/import/past-imports.ts";
import "../../packages/host/src/import/import-runs.ts";
import assert from "node:assert/strict";
import { describe } from "vitest";
import { smallSession } from "../support/claude-session.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";

const NAMES = ["apples", "pears", "plums", "figs"];
const ASKED = { includeHome: true, maxSessions: 100, maxSessionAgeDays: 36_500 };

interface Offered {
  readonly items: { readonly details: { readonly sessions: readonly { readonly path: string }[] } }[];
}

/** Imports every session that is offered, and waits for the end; how many were offered. */
async function importSessions(client: SimClient): Promise<number> {
  const { items } = (await client.call("externalAgentConfig/detect", ASKED)) as unknown as Offered;
  if (items.length === 0) return 0;
  const { importId } = (await client.call("externalAgentConfig/import", { migrationItems: items })) as {
    importId: string;
  };
  await client.until("the end of the import", ({ method, params }) => {
    return method === "externalAgentConfig/import/completed" && params!.importId === importId;
  });
  return items[0]!.details.sessions.length;
}

/** The texts of every thread that is listed, each thread with its first message. */
async function listed(client: SimClient): Promise<Map<string, readonly string[]>> {
  const { data } = (await client.call("thread/list", { limit: 100 })) as {
    data: { id: string; preview: string }[];
  };
  const found = new Map<string, readonly string[]>();
  for (const { id, preview } of data) {
    assert(!found.has(preview), `${preview} is there twice`);
    const { thread } = (await client.call("thread/read", { threadId: id, includeTurns: true })) as {
      thread: { turns: { status: string; items: { type: string }[] }[] };
    };
    found.set(
      preview,
      thread.turns.flatMap(({ status, items }) => [...items.map(({ type }) => type), status]),
    );
  }
  return found;
}

const WHOLE = ["userMessage", "agentMessage", "completed"];

describe("an import of sessions", () => {
  simulate(
    "[IMPORT-10] leaves whole threads whenever its host dies, and the next import brings the rest",
    { count: 30, full: 200 },
    async (world) => {
      const { random } = world;
      const when = new Date(world.scheduler.wallClock - 24 * 60 * 60 * 1000);
      for (const name of NAMES) {
        const text = smallSession(name, when)
          .map((line) => `${JSON.stringify(line)}\n`)
          .join("");
        world.disk.put(`/home/user/.claude/projects/p/${name}.jsonl`, Buffer.from(text));
      }
      const host = await world.start();
      const client = host.connect();
      client.rules.onlyReplies = true;
      await client.initialize({ experimentalApi: true });
      // One that ends by itself leaves no more than one that is killed.
      const ends = random.pick(["kill", "power", "close"] as const);
      const steps = random.between(0, 250);
      const dead =
        ends === "close"
          ? new Promise<void>((resolve) => world.scheduler.inSteps(steps, "end", resolve)).then(() =>
              host.close(),
            )
          : host.crashIn(steps, () => ends);
      await Promise.race([dead, importSessions(client).catch(() => {})]);
      await dead;
      const next = await world.start();
      const again = next.connect();
      again.rules.onlyReplies = true;
      await again.initialize({ experimentalApi: true });
      const before = await listed(again);
      world.check(() => {
        for (const [preview, texts] of before) assert.deepEqual(texts, WHOLE, preview);
      });
      await importSessions(again);
      // The host makes good behind its start what the one before it did not list.
      let after = await listed(again);
      while (after.size < NAMES.length) {
        await world.sleep(100);
        after = await listed(again);
      }
      world.check(() => {
        assert.deepEqual([...after.keys()].sort(), NAMES.map((name) => `Tell me about ${name}`).sort());
        for (const [preview, texts] of after) assert.deepEqual(texts, WHOLE, preview);
      });
      assert.equal(await importSessions(again), 0);
      await next.close();
    },
  );
});
