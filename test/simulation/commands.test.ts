import assert from "node:assert/strict";
import { describe } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import type { ContextItem } from "../../packages/host/src/model/model.ts";
import { echo, work } from "./fake-programs.ts";
import type { Random } from "./random.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { World } from "./world.ts";

const CONFIG = readConfig({ sandbox_mode: "danger-full-access", approval_policy: "on-request" });

function addPrograms({ processes: { programs } }: World): void {
  programs.set("work", work);
  programs.set("echo", echo);
}

const lastSession = (context: readonly ContextItem[]): string | undefined => {
  const outputs = context.flatMap((item) =>
    item.type === "toolOutput" && typeof item.output === "string" ? [item.output] : [],
  );
  return /running with session ID (\d+)/.exec(outputs.at(-1) ?? "")?.[1];
};

/** One of the things that a model does with commands. */
function act(context: readonly ContextItem[], random: Random) {
  const session = lastSession(context);
  const call = (name: string, args: object) => ({ steps: [{ do: "call", name, args } as const] });
  if (session !== undefined && random.chance(0.6)) {
    const chars = random.pick(["", "hello\n", "end\n", "\u0003"]);
    return call("write_stdin", { session_id: Number(session), chars, yield_time_ms: 300 });
  }
  if (random.chance(0.4)) return { steps: [{ do: "say", pieces: ["Done"] } as const] };
  const cmd = random.pick(["work 2 10 0", "work 3 400 2", "work 50 1000 3", "echo", "missing"]);
  return call("exec_command", { cmd, tty: cmd === "echo", login: false, yield_time_ms: 300 });
}

/** Resumes a thread, if no power cut took it with its start. */
async function isThere(client: SimClient, threadId: string): Promise<boolean> {
  const outcome = await client.request("thread/resume", { threadId });
  return "reply" in outcome && outcome.reply.error === undefined;
}

describe("commands", () => {
  simulate(
    "[EXEC-11] complete their items once and leave no process, whatever happens to their thread and host",
    { count: 25, full: 1000 },
    async (world) => {
      const { random } = world;
      addPrograms(world);
      world.model.scripts = ({ context }) => act(context, random);
      /** What a client was sent of commands. */
      const ends = (client: SimClient) => {
        const started: string[] = [];
        const completed: string[] = [];
        for (const { method, params } of client.frames) {
          const item = params?.item as { id: string; type: string } | undefined;
          if (item?.type !== "commandExecution") continue;
          if (method === "item/started") started.push(item.id);
          if (method === "item/completed") completed.push(item.id);
        }
        return { completed, open: started.filter((id) => !completed.includes(id)) };
      };
      let threadId: string | undefined;
      const live = async (client: SimClient) => {
        await client.initialize({ experimentalApi: true });
        if (threadId === undefined || !(await isThere(client, threadId)))
          threadId = await client.startThread();
        for (let turns = 0; turns < 6; turns++) {
          const turnId = await client.startTurn(threadId);
          if (random.chance(0.3)) {
            await world.sleep(random.between(1, 2000));
            await client.request("turn/interrupt", { threadId, turnId });
          }
          await client.turnEnd(turnId);
          if (random.chance(0.3))
            await client.call("thread/shellCommand", { threadId, command: "work 2 50 1" });
          if (random.chance(0.2)) await client.call("thread/backgroundTerminals/clean", { threadId });
          if (random.chance(0.2)) {
            const from = client.frames.length;
            const { status } = await client.call("thread/unload", { threadId, interrupt: true });
            world.check(() => assert.equal(status, "unloaded"));
            const isClosed = () => client.frames.slice(from).some(({ method }) => method === "thread/closed");
            if (!isClosed() && !(await client.until("closed", isClosed))) return;
            world.check(() => assert.deepEqual(ends(client).open, []));
            await client.call("thread/resume", { threadId });
          }
        }
      };
      for (let lives = 0; lives < 3; lives++) {
        const host = await world.start({ config: CONFIG });
        const client = host.connect();
        client.rules.onlyReplies = true;
        const dead = host.crashIn(random.between(60, 600), () => random.pick(["kill", "power"]));
        await Promise.all([dead, live(client).catch(() => {})]);
        const { completed } = ends(client);
        world.check(() => assert.deepEqual(completed, [...new Set(completed)], "completed twice"));
      }
      const host = await world.start({ config: CONFIG });
      const client = host.connect();
      await client.initialize({ experimentalApi: true });
      if (threadId !== undefined && (await isThere(client, threadId))) {
        await client.call("thread/unload", { threadId, interrupt: true });
        const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
        const items = (thread as { turns: { items: { id: string; type: string; status: string }[] }[] }).turns
          .flatMap((turn) => turn.items)
          .filter(({ type }) => type === "commandExecution");
        world.check(() => {
          assert.deepEqual(
            items.filter(({ status }) => status === "inProgress"),
            [],
            "commands without an end",
          );
        });
      }
      await world.scheduler.quiet();
      await host.close();
      await world.scheduler.quiet();
      world.check(() =>
        assert.deepEqual(
          world.processes.alive.map(({ name }) => name),
          [],
        ),
      );
    },
  );
});
