// What a request that is refused, a host that dies and a host that ends leave behind for the next one.
import { describe, expect } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { checkJournals, journals } from "../model/journals.ts";
import { toolset } from "../support/tool-server.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import { HOME, type SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

const DESK = "http://desk.example";
const HOUR_SECS = 3600;
const config = readConfig({
  rap_servers: { desk: { url: DESK, call_deadline_secs: HOUR_SECS } },
  server_request_deadline_secs: 100 * HOUR_SECS,
});

async function client(host: SimHost): Promise<SimClient> {
  const one = host.connect();
  one.rules.onlyReplies = true;
  await one.initialize({ experimentalApi: true });
  return one;
}

/** The types of a thread's records, as they are on the disk. */
function recordsOf(
  { disk }: World,
  threadId: string,
): readonly { readonly type: string; readonly status?: unknown }[] {
  const path = journals(disk).find((one) => one.includes(threadId));
  const lines = path === undefined ? [] : disk.text(path)!.split("\n").slice(0, -1);
  return lines.flatMap(
    (line) => (JSON.parse(line) as { records: { type: string; status?: unknown }[] }).records,
  );
}

const ends = (world: World, threadId: string) =>
  recordsOf(world, threadId)
    .filter(({ type }) => type === "turnEnded")
    .map(({ status }) => status);

describe("an edit of a thread that is not loaded", () => {
  simulate(
    "gives its claim back when it is refused, as when it is done",
    { count: 20, full: 300 },
    async (world) => {
      const first = await world.start();
      const one = await client(first);
      const threadId = await one.startThread();
      await one.turnEnd(await one.startTurn(threadId));
      await one.call("thread/unload", { threadId });
      const input = [{ type: "text", text: "later" }];
      const edit = { threadId, queuedSubmissionId: "none", input };
      const outcome = await one.request("thread/queue/update", edit);
      world.check(() =>
        expect("reply" in outcome && outcome.reply.error?.data?.code).toBe("submissionNotFound"),
      );
      await world.scheduler.quiet();
      world.check(() => expect(world.disk.paths).not.toContain(`${HOME}/live/${threadId}`));
      // Another host has it at once.
      const second = await world.start();
      const two = await client(second);
      await two.call("thread/resume", { threadId });
      await second.close();
      await first.close();
      world.check(() => checkJournals(world.disk));
    },
  );
});

describe("a turn whose host died", () => {
  simulate(
    "goes on at the next start, with nobody there to see it",
    { count: 20, full: 300 },
    async (world) => {
      const host = await world.start();
      const one = await client(host);
      const threadId = await one.startThread();
      // The first call of the model shows nothing; the second one comes after the crash.
      world.model.scripts = (_request, _random, call) => ({
        steps: call === 1 ? [{ do: "hang" }] : [{ do: "say", pieces: ["done"] }],
      });
      await one.startTurn(threadId);
      await world.scheduler.quiet();
      host.crash("kill");
      const next = await world.start();
      await world.scheduler.quiet();
      world.check(() => expect(ends(world, threadId)).toEqual(["completed"]));
      await next.close();
      world.check(() => checkJournals(world.disk));
    },
  );

  simulate(
    "is followed by one for an event that its thread had taken, with nobody there to see it",
    { count: 20, full: 300 },
    async (world) => {
      const { network, scheduler } = world;
      // Slower, and a server that is there is taken for one that is not.
      scheduler.pace = Math.min(scheduler.pace, 5);
      let callback: { url: string; id: string; group_id: string } | undefined;
      network.servers.set(DESK, async ({ path, body }) => {
        if (path === "/.well-known/rap-toolset") return { status: 200, json: toolset(DESK, { watch: {} }) };
        if (path === "/invoke") {
          const { callback_url: url, id, group_id } = body;
          callback = { url, id, group_id };
          const subscribed = { type: "tool_result", group_id, id, text: "Subscribed.", subscription: true };
          void network.post(url, subscribed);
        }
        return { status: 200 };
      });
      world.model.scripts = ({ context }) => ({
        steps: context.some(({ type }) => type === "toolOutput")
          ? [{ do: "say", pieces: ["done"] }]
          : [{ do: "call", name: "watch", args: {}, callId: "call_1" }],
      });
      const host = await world.start({ config });
      const one = await client(host);
      const threadId = await one.startThread();
      await one.turnEnd(await one.startTurn(threadId));
      // It dies in the step in which the event is acknowledged.
      const dead = new Promise<void>((resolve) => {
        network.answered = (status) => {
          if (status !== 200) return;
          network.answered = () => {};
          host.crash("kill");
          resolve();
        };
      });
      const { url, id, group_id } = callback!;
      const event = {
        type: "subscription_event",
        group_id,
        tool_call_id: id,
        text: "a bird",
        associative: true,
      };
      void network.post(url, event);
      await scheduler.waitFor("the crash", dead);
      const next = await world.start({ config });
      await scheduler.quiet();
      world.check(() => {
        const types = recordsOf(world, threadId).map(({ type }) => type);
        expect(types.filter((type) => type === "eventInjected")).toHaveLength(1);
        expect(ends(world, threadId)).toEqual(["completed", "completed"]);
      });
      await next.close();
    },
  );
});

describe("a host that ends while threads wait", () => {
  simulate(
    "[ASK-9] leaves nothing under way: neither a deadline, nor what it was about to post",
    { count: 20, full: 300 },
    async (world) => {
      const { network, scheduler, random } = world;
      scheduler.pace = Math.min(scheduler.pace, 5);
      let answers = 0;
      network.servers.set(DESK, async ({ path, body }) => {
        if (path === "/.well-known/rap-toolset") return { status: 200, json: toolset(DESK, { ask: {} }) };
        // It is away when it is to be told what was chosen, so that this is tried again and again.
        if (path === "/answer") {
          answers++;
          return random.pick([undefined, { status: 503 }]);
        }
        if (path === "/invoke") {
          const { callback_url: url, id, group_id } = body;
          const question = {
            prompt: "Where to?",
            choices: ["a", "b"],
            default: 0,
            response_url: `${DESK}/answer`,
          };
          void network.post(url, { type: "user_choice", group_id, id, ...question });
        }
        return { status: 200 };
      });
      world.model.scripts = () => ({ steps: [{ do: "call", name: "ask", args: {}, callId: "call_1" }] });
      const host = await world.start({ config });
      const one = await client(host);
      one.heard = () => {
        const { method, id } = one.frames.at(-1)!;
        if (method === "item/tool/requestUserInput")
          one.answer(id!, { result: { answers: { choice: { answers: ["b"] } } } });
      };
      const threadId = await one.startThread();
      await one.startTurn(threadId);
      await one.until("the answer is taken", ({ method }) => method === "serverRequest/resolved");
      await world.sleep(random.between(0, 100_000));
      // A host that waits for what its threads do would wait for the deadline, and is cut short after ten seconds.
      scheduler.pace = 0;
      const began = scheduler.elapsed;
      await host.close();
      world.check(() => expect(scheduler.elapsed - began).toBeLessThan(10_000));
      // One may have been on its way.
      const before = answers;
      await world.sleep(2 * HOUR_SECS * 1000);
      await scheduler.quiet();
      world.check(() => {
        expect(answers).toBe(before);
        // Parked: the turn has no end, and the claim tells the next host of it.
        expect(ends(world, threadId)).toEqual([]);
        expect(world.disk.paths).toContain(`${HOME}/live/${threadId}`);
      });
    },
  );
});
