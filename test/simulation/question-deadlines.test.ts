// Questions that nobody is there to answer, and hosts that die before they are given up.
import { describe, expect } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { checkJournals, journals } from "../model/journals.ts";
import { simulate } from "./run.ts";
import type { SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

const DEADLINE_SECS = 600;
/** How long a host waits for clients that its predecessor had. */
const COMEBACK_MS = 60_000;
const config = readConfig({ server_request_deadline_secs: DEADLINE_SECS });
const LOOKUP = { type: "function", name: "lookup", description: "L", inputSchema: { type: "object" } };

interface Record {
  readonly type: string;
  readonly answer?: { readonly kind: string };
  readonly status?: string;
}

function recordsOf({ disk }: World): readonly Record[] {
  return journals(disk).flatMap((path) =>
    disk
      .text(path)!
      .split("\n")
      .slice(0, -1)
      .flatMap((line) => (JSON.parse(line) as { records: Record[] }).records),
  );
}

const count = (world: World, type: string): number =>
  recordsOf(world).filter((record) => record.type === type).length;

/** A turn that asks two questions, and a client that is gone when both are asked. */
async function asked(world: World): Promise<SimHost> {
  world.model.scripts = ({ context }) => ({
    steps: context.some(({ type }) => type === "toolOutput")
      ? [{ do: "say", pieces: ["without it"] }]
      : [
          { do: "call", name: "lookup", args: {}, callId: "call_1" },
          { do: "call", name: "lookup", args: {}, callId: "call_2" },
        ],
  });
  const host = await world.start({ config });
  const client = host.connect();
  client.rules.onlyReplies = true;
  await client.initialize({ experimentalApi: true });
  const threadId = await client.startThread({ dynamicTools: [LOOKUP] });
  await client.startTurn(threadId);
  await world.scheduler.quiet();
  world.check(() => expect(count(world, "requestSent")).toBe(2));
  client.cut();
  await world.scheduler.quiet();
  return host;
}

function checkGivenUp(world: World, ...possibleEnds: readonly string[]): void {
  world.check(() => {
    const records = recordsOf(world);
    const answers = records.flatMap(({ type, answer }) => (type === "requestResolved" ? [answer?.kind] : []));
    expect(answers).toEqual(["expired", "expired"]);
    const ends = records.flatMap(({ type, status }) => (type === "turnEnded" ? [status] : []));
    expect(ends).toHaveLength(1);
    expect(possibleEnds).toContain(ends[0]);
  });
}

describe("questions that nobody is there to answer", () => {
  simulate("are given up at their deadline, and not before", { count: 10, full: 300 }, async (world) => {
    const host = await asked(world);
    await world.sleep(DEADLINE_SECS * 1000 - COMEBACK_MS);
    await world.scheduler.quiet();
    world.check(() => expect(count(world, "requestResolved")).toBe(0));
    await world.sleep(2 * COMEBACK_MS);
    await world.scheduler.quiet();
    checkGivenUp(world, "completed");
    await host.close();
    world.check(() => checkJournals(world.disk));
  });

  simulate(
    "[ASK-7] are given up once by one of the hosts that follow, whenever one dies",
    { count: 20, full: 600 },
    async (world) => {
      let host = await asked(world);
      let dueMs = DEADLINE_SECS * 1000;
      for (let deaths = world.random.between(1, 3); deaths > 0; deaths--) {
        // Some die in the middle of the commits that give the questions up.
        if (world.random.below(3) > 0) await world.sleep(dueMs);
        for (let moments = world.random.below(40); moments > 0; moments--) await world.moment();
        host.crash("kill");
        host = await world.start({ config });
        dueMs = COMEBACK_MS;
      }
      // Questions that had not waited for long wait on.
      await world.sleep(DEADLINE_SECS * 1000 + COMEBACK_MS);
      await world.scheduler.quiet();
      // Interrupted: its host died while the model gave the last answer.
      checkGivenUp(world, "completed", "interrupted");
      await host.close();
      world.check(() => checkJournals(world.disk));
    },
  );
});
