// What is synced before someone hears of it, seen in the very step in which they do.
import { describe, expect } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { journals } from "../model/journals.ts";
import { toolset } from "../support/tool-server.ts";
import { simulate } from "./run.ts";
import type { World } from "./world.ts";

const DESK = "http://desk.example";
const config = readConfig({ rap_servers: { desk: { url: DESK } } });
const TOOLSET = toolset(DESK, { watch: { annotations: { idempotent: true } } });

/** What a power cut would leave of the one journal, at the least. */
function synced({ disk }: World): string {
  const [path] = journals(disk);
  return path === undefined ? "" : Buffer.from(disk.get(path)!.synced).toString();
}

describe("a tool server's 200", () => {
  simulate(
    "[RAPR-60] says that what it sent survives a power cut, whatever that is",
    { count: 20, full: 500 },
    async (world) => {
      const { network, scheduler } = world;
      // Slower, and a server that is there is taken for one that is not.
      scheduler.pace = Math.min(scheduler.pace, 5);
      const taken: string[] = [];
      let over!: () => void;
      const done = new Promise<void>((resolve) => {
        over = resolve;
      });
      let sent = "";
      network.answered = (status) => {
        if (status === 200) world.check(() => expect(synced(world)).toContain(sent));
      };
      const deliver = async (url: string, message: object, marker: string): Promise<void> => {
        sent = marker;
        while ((await network.post(url, message))!.status === 503) await world.moment("desk");
        taken.push(marker);
      };
      network.servers.set(DESK, async ({ path, body }) => {
        if (path === "/.well-known/rap-toolset") return { status: 200, json: TOOLSET };
        if (path !== "/invoke") return { status: 200 };
        const { id, group_id, callback_url: url } = body;
        const question = {
          prompt: "where to",
          choices: ["a", "b"],
          default: 0,
          response_url: `${DESK}/answer`,
        };
        const work = async () => {
          await deliver(
            url,
            { type: "view_update", group_id, tool_call_id: id, view_type: "v", content: { is: "a view" } },
            "a view",
          );
          await deliver(url, { type: "user_choice", group_id, id, ...question }, "where to");
          await deliver(
            url,
            { type: "tool_result", group_id, id, text: "a result", subscription: true },
            "a result",
          );
          const event = { type: "subscription_event", group_id, tool_call_id: id, associative: true };
          await deliver(url, { ...event, text: "an event", final: false }, "an event");
          over();
        };
        void work();
        return { status: 200 };
      });
      world.model.scripts = ({ context }) => ({
        steps: context.some(({ type }) => type === "toolOutput")
          ? [{ do: "hang" }]
          : [{ do: "call", name: "watch", args: {}, callId: "call_1" }],
      });
      const host = await world.start({ config });
      const client = host.connect();
      client.rules.onlyReplies = true;
      await client.initialize({ experimentalApi: true });
      await client.startTurn(await client.startThread());
      await scheduler.waitFor("all messages taken", done);
      world.check(() => expect(taken).toEqual(["a view", "where to", "a result", "an event"]));
      await host.close();
    },
  );
});

describe("serverRequest/resolved", () => {
  simulate(
    "[ASK-20] is sent when the answer survives a power cut",
    { count: 20, full: 500 },
    async (world) => {
      const ask = {
        questions: [{ id: "q", header: "H", question: "Q?", options: [{ label: "A", description: "d" }] }],
      };
      world.model.scripts = ({ context }) => ({
        steps: context.some(({ type }) => type === "toolOutput")
          ? [{ do: "hang" }]
          : [{ do: "call", name: "request_user_input", args: ask, callId: "call_1" }],
      });
      const host = await world.start();
      const client = host.connect();
      client.rules.onlyReplies = true;
      let asked: number | undefined;
      client.heard = () => {
        const { method, id, params } = client.frames.at(-1)!;
        if (method === "item/tool/requestUserInput") {
          asked = id!;
          client.answer(id!, { result: { answers: { q: { answers: ["the answer"] } } } });
        }
        if (method !== "serverRequest/resolved") return;
        world.check(() => {
          expect(params!.requestId).toBe(asked);
          expect(synced(world)).toContain("the answer");
        });
      };
      await client.initialize({ experimentalApi: true });
      await client.startTurn(await client.startThread());
      await client.until("resolved", ({ method }) => method === "serverRequest/resolved");
      await host.close();
    },
  );
});
