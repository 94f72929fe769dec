// Calls of MCP servers, what they ask and what is allowed for good, while hosts die.
import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { LayeredConfig } from "../../packages/host/src/config/layered-config.ts";
import { journals, recordsOf } from "../model/journals.ts";
import { owed } from "../model/owed.ts";
import { LONG } from "../support/long-form.ts";
import { STUCK_MS } from "../support/patience.ts";
import { FakeMcp, SECRET_PAGE } from "./fake-mcp.ts";
import { runSeed, simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import { HOME } from "./sim-host.ts";
import type { World } from "./world.ts";

// Has the code for TOML and for keys loaded: the scheduler does not see what a host waits for outside of it.
const NO_FILES = {
  readText: async () => undefined,
  exists: async () => false,
  stamps: async () => undefined,
  realPath: async (path: string) => path,
};
await new LayeredConfig(NO_FILES, HOME, []).of("");
await import("../../packages/host/src/config/keys/key-warnings.ts");

const CONFIG_FILE = `${HOME}/config.toml`;
// The fake stands in for what the file configures.
const CONFIG = readConfig({});
const STRIDE = LONG ? 1 : 3;

/** The model calls what the user names, once each: `use form page`. */
function usesTools(world: World): void {
  world.model.scripts = ({ context }) => {
    const last = context.findLastIndex((item) => item.type === "message" && item.role === "user");
    const part = context[last]?.type === "message" ? context[last].parts[0] : undefined;
    const [verb, ...tools] = part?.type === "text" ? part.text.split(" ") : [];
    const called = context.slice(last).flatMap((item) => (item.type === "toolCall" ? [item.name] : []));
    const missing = verb === "use" ? tools.filter((tool) => !called.includes(tool)) : [];
    if (missing.length === 0) return { steps: [{ do: "say", pieces: ["Done"] }] };
    return {
      steps: missing.map((name) => ({ do: "call", name, namespace: "mcp__notes", args: {} }) as const),
    };
  };
}

/** Answers each question as `answer` says, if it says something. */
function answering(client: SimClient, answer: () => object | undefined): void {
  client.rules.onlyReplies = true;
  let seen = 0;
  client.heard = () => {
    for (const { id, method } of client.frames.slice(seen)) {
      const result = method === "mcpServer/elicitation/request" ? answer() : undefined;
      if (result !== undefined) client.answer(id!, { result });
    }
    seen = client.frames.length;
  };
}

const isRecorded = ({ disk }: World): boolean =>
  journals(disk).some((path) => recordsOf(disk, path).some(({ type }) => type === "requestResolved"));

const isAllowed = ({ disk }: World): boolean =>
  /write[^\n]*\n?[^\n]*approval_mode = "approve"/.test(disk.text(CONFIG_FILE)!);

/** The turn, on a host that dies so many steps after the answer; true if it was over before. */
async function dieAfterAnswer(world: World, kind: "kill" | "power", steps: number): Promise<boolean> {
  usesTools(world);
  world.disk.put(CONFIG_FILE, '# Notes of ours.\n[mcp_servers.notes]\ncommand = "notes"\n');
  const called = new Set<string>();
  const start = () => world.start({ config: CONFIG, mcpServers: new FakeMcp(world, called, "host") });
  const always = { action: "accept", content: null, _meta: { persist: "always" } };
  const host = await start();
  const client = host.connect();
  let dead: Promise<void> | undefined;
  const asked = new Promise<void>((resolve) => {
    answering(client, () => {
      dead ??= host.crashIn(steps, () => kind);
      resolve();
      return always;
    });
  });
  let over = false;
  const live = async (): Promise<void> => {
    await client.initialize({ experimentalApi: true });
    const threadId = await client.startThread();
    await client.turnEnd(await client.startTurn(threadId, "use write"));
    over = host.alive;
  };
  const life = live().catch(() => {});
  await asked;
  await Promise.all([dead, life]);
  const recorded = isRecorded(world);
  const next = await start();
  await world.scheduler.quiet();
  if (recorded)
    world.check(() => assert(isAllowed(world), "the answer is recorded, and config.toml lacks it"));
  const other = next.connect();
  answering(other, () => always);
  await other.initialize({ experimentalApi: true });
  const [path] = journals(world.disk);
  if (path !== undefined) {
    await other.call("thread/resume", { threadId: path.slice(-".jsonl".length - 36, -".jsonl".length) });
    await world.sleep(60_000);
    await world.scheduler.quiet();
    world.check(() => assert(isAllowed(world), "config.toml has it in the end"));
  }
  world.check(() => assert(world.disk.text(CONFIG_FILE)!.startsWith("# Notes of ours.\n")));
  await next.close();
  return over;
}

describe("an MCP tool that is allowed for good", () => {
  it.each(["kill", "power"] as const)(
    "[MCPCALL-8] is in config.toml, whenever the host dies after the answer (%s)",
    { timeout: STUCK_MS },
    async (kind) => {
      let over = false;
      for (let steps = 0; !over; steps += STRIDE) {
        await runSeed(1 + (steps % 3), async (world) => {
          over = await dieAfterAnswer(world, kind, steps).catch((cause: unknown) => {
            throw new Error(`${kind} after ${steps} steps: ${(cause as Error).message}`, { cause });
          });
        });
      }
    },
  );
});

describe("a call that changes something", () => {
  simulate(
    "[MCPCALL-29] is known to have been made after a power cut in the moment in which its server has it",
    { count: 5, full: 100 },
    async (world) => {
      usesTools(world);
      const servers = new FakeMcp(world, new Set());
      const host = await world.start({ config: CONFIG, mcpServers: servers });
      const client = host.connect();
      answering(client, () => ({ action: "accept", content: null, _meta: null }));
      const dead = new Promise<void>((resolve) => {
        servers.reached = () => {
          host.crash("power");
          resolve();
        };
      });
      const live = async (): Promise<void> => {
        await client.initialize({ experimentalApi: true });
        await client.startTurn(await client.startThread(), "use write");
      };
      await Promise.all([dead, live().catch(() => {})]);
      const again = new FakeMcp(world, new Set());
      again.reached = () => world.fail(new Error("the call is made again"));
      await world.start({ config: CONFIG, mcpServers: again });
      await world.scheduler.quiet();
      const [path] = journals(world.disk);
      const answers = recordsOf(world.disk, path!).filter(({ type }) => type === "toolAnswered");
      world.check(() => {
        assert.equal(answers.length, 1);
        assert.match(String(answers[0]!.output), /whether it had its effect is not known/);
      });
    },
  );
});

describe("questions of MCP servers", () => {
  simulate(
    "[MCPCALL-20] [MCPCALL-22] ends with the host that asked, each call has one answer, and no file has the address",
    { count: 20, full: 200 },
    async (world) => {
      const { random } = world;
      usesTools(world);
      const called = new Set<string>();
      const start = () => world.start({ config: CONFIG, mcpServers: new FakeMcp(world, called) });
      const checkDisk = (): void => {
        for (const path of world.disk.paths)
          assert(!world.disk.text(path)!.includes(SECRET_PAGE), `${path} has the address`);
      };
      const answers = [
        { action: "accept", content: null, _meta: null },
        { action: "accept", content: null, _meta: { persist: "session" } },
        { action: "decline", content: null, _meta: null },
        { action: "cancel", content: null, _meta: null },
        undefined,
      ];
      let threadId: string | undefined;
      const live = async (client: SimClient, isLast: boolean): Promise<void> => {
        answering(client, () => {
          world.check(checkDisk);
          return isLast ? answers[0] : random.pick(answers);
        });
        await client.initialize({ experimentalApi: true });
        const resumed = threadId && (await client.request("thread/resume", { threadId }));
        const isThere = resumed && "reply" in resumed && resumed.reply.error === undefined;
        if (threadId === undefined || !isThere) threadId = await client.startThread();
        for (let turns = 0; turns < 3; turns++) {
          const tools = ["look", "write", "form", "page", "think", "draw"].filter(() => random.chance(0.5));
          const turnId = await client.startTurn(threadId, `use ${tools.join(" ")}`);
          if (random.chance(0.3)) await world.sleep(random.between(0, 30));
          if (!isLast && random.chance(0.5)) await client.request("turn/interrupt", { threadId, turnId });
          await client.turnEnd(turnId);
        }
      };
      for (let lives = 0; lives < 3; lives++) {
        const host = await start();
        const client = host.connect();
        const dead = host.crashIn(random.between(60, 400), () => random.pick(["kill", "power"] as const));
        await Promise.all([dead, live(client, false).catch(() => {})]);
        world.check(checkDisk);
      }
      const host = await start();
      await live(host.connect(), true);
      await world.scheduler.quiet();
      world.check(() => {
        checkDisk();
        for (const path of journals(world.disk))
          assert.deepEqual(
            // There are no tool servers that could be notified.
            owed(recordsOf(world.disk, path)).filter((one) => !/^(closed|callCancelled) /.test(one)),
            [],
            `what ${path} asks for and nobody has done`,
          );
      });
    },
  );
});
