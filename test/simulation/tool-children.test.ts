import { describe, expect } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { checkJournals, journals } from "../model/journals.ts";
import { toolset } from "../support/tool-server.ts";
import type { FakeServer } from "./fake-network.ts";
import { simulate } from "./run.ts";
import type { SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

const DESK = "http://desk.example";
const TOOLSET = toolset(DESK, { watch: { annotations: { idempotent: true } } });
const MINUTE = 60_000;
const EVENT = "a bird";

/** Takes a subscription, and sends the one event that there is until it was taken. */
function desk(world: World, called: () => void, taken: () => void): FakeServer {
  let url = "";
  const deliver = async (message: object, key: string): Promise<void> => {
    for (;;) {
      const answer = await world.network.post(url, message, { "idempotency-key": key });
      if (answer !== undefined && answer.status < 500) return;
      await world.sleep(500, "desk");
    }
  };
  const work = async (id: string, group_id: string): Promise<void> => {
    await deliver({ type: "tool_result", group_id, id, text: "Subscribed.", subscription: true }, "result");
    const event = { type: "subscription_event", group_id, tool_call_id: id, text: EVENT, final: true };
    await deliver(event, "event");
    taken();
  };
  return async ({ path, body }) => {
    if (path === "/.well-known/rap-toolset") return { status: 200, json: TOOLSET };
    if (path !== "/invoke") return { status: 200 };
    const known = url !== "";
    url = body.callback_url;
    if (!known) {
      called();
      void work(body.id, body.group_id);
    }
    return { status: 200 };
  };
}

interface Journaled {
  readonly type: string;
  readonly childId?: string;
  readonly event?: { readonly output: unknown };
}

function written(world: World, path: string): readonly Journaled[] {
  const lines = world.disk.text(path)!.split("\n").slice(0, -1);
  return lines.flatMap((line) => (JSON.parse(line) as { records: Journaled[] }).records);
}

describe("an event for a child", () => {
  simulate(
    "is handled once, by the thread itself if no child can be made, however often the host dies",
    { count: 80, full: 3_000 },
    async (world) => {
      const { random, network, scheduler, disk } = world;
      // Slower, and a server that is there is taken for one that is not.
      scheduler.pace = Math.min(scheduler.pace, 5);
      world.expectError(/^child .*ENOSPC/);
      const fillDisk = (): void => {
        const path = (one: string): boolean => one.endsWith(".starts");
        const times = random.pick([0, 1, 3, Number.POSITIVE_INFINITY]);
        // There is no room for the first line of another thread.
        if (times > 0) disk.fail({ op: "append", code: "ENOSPC", path, times });
      };
      let taken = (): void => {};
      network.servers.set(
        DESK,
        desk(world, fillDisk, () => taken()),
      );
      world.model.scripts = ({ context }) => ({
        steps: context.some(({ type }) => type === "toolOutput")
          ? [{ do: "say", pieces: ["Done"] }]
          : [{ do: "call", name: "watch", args: {}, callId: "call_1" }],
      });
      const config = readConfig({ rap_servers: { desk: { url: DESK } } });
      let threadId: string | undefined;
      const live = async (host: SimHost): Promise<void> => {
        const client = host.connect();
        client.rules.onlyReplies = true;
        await client.initialize({ experimentalApi: true });
        if (threadId !== undefined) return void (await client.call("thread/resume", { threadId }));
        threadId = await client.startThread();
        await client.startTurn(threadId);
      };
      for (let lives = random.between(0, 2); lives > 0; lives--) {
        const host = await world.start({ config });
        const dead = new Promise<void>((resolve) => {
          const crash = (): void => {
            host.crash(random.pick(["kill", "power"]));
            resolve();
          };
          taken = () => scheduler.inSteps(random.between(0, 120), "crash", crash);
          scheduler.inSteps(3000, "crash", crash);
        });
        await Promise.all([dead, live(host).catch(() => {})]);
      }
      taken = () => {};
      const host = await world.start({ config });
      await live(host);
      await world.sleep(60 * MINUTE);
      await scheduler.quiet();
      await host.close();
      world.check(() => {
        checkJournals(disk);
        const records = journals(disk).flatMap((path) => written(world, path));
        const shown = records.filter(({ type }) => type === "eventInjected");
        expect(shown.map(({ event }) => event!.output)).toEqual([EVENT]);
        const of = (kind: string) =>
          records.filter(({ type }) => type === kind).map(({ childId }) => childId);
        expect(of("childDue")).toHaveLength(1);
        expect(of("childEnded")).toEqual(of("childDue"));
      });
    },
  );
});
