// What a tool server was answered with 200 survives a power cut, and what could not be written is not answered so.
import { describe, expect } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { journals } from "../model/journals.ts";
import { toolset } from "../support/tool-server.ts";
import { simulate } from "./run.ts";
import type { SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

const DESK = "http://desk.example";
const TOOLSET = toolset(DESK, { watch: {} });

interface Invoked {
  readonly id: string;
  readonly group_id: string;
  readonly callback_url: string;
}

interface JournalRecord {
  readonly type: string;
  readonly output?: unknown;
  readonly event?: { readonly output: unknown };
  readonly request?: { readonly method: string };
  readonly view?: unknown;
}

/** Each kind of message that a tool server posts, and the record by which the thread knows of it. */
const MESSAGES: readonly [type: string, message: object, isOf: (record: JournalRecord) => boolean][] = [
  [
    "tool_result",
    { type: "tool_result", text: "seen" },
    ({ type, output }) => type === "toolAnswered" && output === "seen",
  ],
  [
    "user_choice",
    { type: "user_choice", prompt: "Which?", choices: ["a"], default: 0, response_url: `${DESK}/answer` },
    ({ type, request }) => type === "requestSent" && request?.method === "item/tool/requestUserInput",
  ],
  [
    "oauth",
    { type: "oauth", auth_url: "https://auth.example" },
    ({ type, request }) => type === "requestSent" && request?.method === "mcpServer/elicitation/request",
  ],
  [
    "view_update",
    { type: "view_update", view_type: "todo", content: { left: 3 } },
    ({ type }) => type === "viewUpdated",
  ],
  [
    "subscription_event",
    { type: "subscription_event", text: "a bird", associative: true },
    ({ type, event }) => type === "eventReceived" && event?.output === "a bird",
  ],
];

/** A thread whose turn waits for one call. */
async function waiting(world: World): Promise<{
  readonly host: SimHost;
  readonly threadId: string;
  readonly start: () => Promise<SimHost>;
  post(message: object): Promise<number | undefined>;
}> {
  let invoked!: (call: Invoked) => void;
  const call = new Promise<Invoked>((resolve) => {
    invoked = resolve;
  });
  // Slower, and a server that is there is taken for one that is not.
  world.scheduler.pace = Math.min(world.scheduler.pace, 5);
  world.network.servers.set(DESK, async ({ path, body }) => {
    if (path === "/.well-known/rap-toolset") return { status: 200, json: TOOLSET };
    if (path === "/invoke") invoked(body);
    return { status: 200 };
  });
  world.model.scripts = ({ context }) => ({
    steps: context.some(({ type }) => type === "toolOutput")
      ? [{ do: "say", pieces: ["Done"] }]
      : [{ do: "call", name: "watch", args: {}, callId: "call_1" }],
  });
  const start = () => world.start({ config: readConfig({ rap_servers: { desk: { url: DESK } } }) });
  const host = await start();
  const client = host.connect();
  client.rules.onlyReplies = true;
  await client.initialize({ experimentalApi: true });
  const threadId = await client.startThread();
  await client.startTurn(threadId);
  const { id, group_id, callback_url } = await world.scheduler.waitFor("the call", call);
  // The acknowledgement is recorded.
  await world.scheduler.quiet();
  const post = async (message: object) => {
    const about = "associative" in message ? { tool_call_id: id } : { id };
    const posted = world.network.post(callback_url, { group_id, ...about, ...message });
    return (await world.scheduler.waitFor("a callback", posted))?.status;
  };
  return { host, threadId, start, post };
}

function recordsOf({ disk }: World, threadId: string): readonly JournalRecord[] {
  const path = journals(disk).find((one) => one.includes(threadId));
  const lines = path === undefined ? [] : disk.text(path)!.split("\n").slice(0, -1);
  return lines.flatMap((line) => (JSON.parse(line) as { records: JournalRecord[] }).records);
}

describe.each(MESSAGES)("a callback of the type %s", (type, message, isOf) => {
  simulate(
    "[RAPR-60] that was answered with 200 survives a power cut at that moment",
    { count: 8, full: 500 },
    async (world) => {
      const { host, threadId, post } = await waiting(world);
      if (type === "subscription_event")
        expect(await post({ type: "tool_result", text: "Subscribed.", subscription: true })).toBe(200);
      let status: number | undefined;
      world.network.answered = (answered) => {
        status = answered;
        host.crash("power");
      };
      await post(message);
      world.check(() => {
        expect(status).toBe(200);
        expect(recordsOf(world, threadId).filter(isOf)).toHaveLength(1);
      });
    },
  );

  simulate(
    "[RAPR-72] that could not be written is not answered with 200, and is taken once by the next host",
    { count: 8, full: 500 },
    async (world) => {
      world.expectError(/EIO/, /storageFailed/);
      const { host, threadId, start, post } = await waiting(world);
      if (type === "subscription_event")
        expect(await post({ type: "tool_result", text: "Subscribed.", subscription: true })).toBe(200);
      await world.scheduler.quiet();
      const mended = world.disk.fail({
        op: world.random.pick(["append", "sync"] as const),
        code: "EIO",
        path: (path) => path.includes(threadId),
        times: 1000,
      });
      expect(await post(message)).toBe(503);
      expect(await post(message)).toBe(503);
      mended();
      host.crash("kill");
      const next = await start();
      const client = next.connect();
      client.rules.onlyReplies = true;
      await client.initialize({ experimentalApi: true });
      await world.scheduler.quiet();
      // A failed sync may leave it written: then the thread may have come to its end by now.
      const known = recordsOf(world, threadId).some(isOf);
      expect(known ? [200, 410] : [200]).toContain(await post(message));
      await world.scheduler.quiet();
      world.check(() => {
        const taken = recordsOf(world, threadId).filter(isOf).length;
        // A view that is sent again, and an address to authorize at, replace the one before.
        expect(taken).toBeGreaterThanOrEqual(1);
        if (type !== "view_update" && type !== "oauth") expect(taken).toBe(1);
      });
    },
  );
});
