import assert from "node:assert/strict";
import { describe } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import type { ContextItem } from "../../packages/host/src/model/model.ts";
import { echo, work } from "./fake-programs.ts";
import type { Message } from "./frame-rules.ts";
import type { Random } from "./random.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { SimHost } from "./sim-host.ts";
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
      const live = async (host: SimHost, client: SimClient) => {
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
            world.check(() => assert.deepEqual(world.processes.of(host), [], "left when it is unloaded"));
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
        await Promise.all([dead, live(host, client).catch(() => {})]);
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

const QUESTION = {
  questions: [{ id: "q", header: "H", question: "Q?", options: [{ label: "A", description: "d" }] }],
};

/** The script of a model that leaves a command running, and then asks the user, as the input says. */
const leaves = ({ context }: { readonly context: readonly ContextItem[] }) => {
  const call = (name: string, args: object) => ({ steps: [{ do: "call", name, args } as const] });
  const cmd = /run: ([^"\\]*)/.exec(JSON.stringify(context))?.[1];
  const outputs = context.filter(({ type }) => type === "toolOutput").length;
  if (cmd !== undefined && outputs === 0)
    return call("exec_command", { cmd: cmd.replace(" ?", ""), login: false, yield_time_ms: 300 });
  if (cmd?.endsWith("?") && outputs === 1) return call("request_user_input", QUESTION);
  return { steps: [{ do: "say", pieces: ["Done"] } as const] };
};

describe("a background terminal", () => {
  const isResident = async (client: SimClient, threadId: string) => {
    const { threads } = await client.call("server/diagnostics");
    return (threads as { threadId: string; resident: boolean }[]).find((one) => one.threadId === threadId)!
      .resident;
  };
  const ofCommand = (client: SimClient, method: string) =>
    client.frames.filter(
      (frame) =>
        frame.method === method &&
        (frame.params!.item as { type: string } | undefined)?.type === "commandExecution",
    );
  const lastCommand = async (client: SimClient, threadId: string) => {
    const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
    return (thread as { turns: { items: Record<string, unknown>[] }[] }).turns
      .flatMap(({ items }) => items)
      .find(({ type }) => type === "commandExecution");
  };

  simulate(
    "[EXEC-8] lets its thread hibernate; its output and its end reach clients all the same",
    { count: 15, full: 300 },
    async (world) => {
      addPrograms(world);
      world.model.scripts = leaves;
      const config = { ...CONFIG, maxResidentThreads: 1 };
      const host = await world.start({ config });
      const client = host.connect();
      client.rules.onlyReplies = true;
      await client.initialize({ experimentalApi: true });
      const threadId = await client.startThread();
      const terminates = world.random.chance(0.5);
      const asks = world.random.chance(0.5);
      const lines = terminates ? 1_000_000 : 600;
      const turnId = await client.startTurn(
        threadId,
        `run: work ${lines} 1000 ${world.random.below(3)}${asks ? " ?" : ""}`,
      );
      const isQuestion = ({ method }: { method?: string }) => method === "item/tool/requestUserInput";
      if (asks) await client.until("its question", isQuestion);
      else await client.turnEnd(turnId);
      const other = await client.startThread();
      await client.turnEnd(await client.startTurn(other));
      world.check(() => assert.equal(ofCommand(client, "item/completed").length, 0, "it still runs"));
      const resident = await isResident(client, threadId);
      world.check(() => assert.equal(resident, false, "does not hibernate"));
      const outputs = () =>
        client.frames.filter(({ method }) => method === "item/commandExecution/outputDelta").length;
      const before = outputs();
      await client.until("more output", () => outputs() > before + 3);
      const afterOutput = await isResident(client, threadId);
      world.check(() => assert.equal(afterOutput, false, "output wakes it"));
      if (terminates) {
        const { data } = await client.call("thread/backgroundTerminals/list", { threadId });
        const [{ processId }] = data as [{ processId: string }];
        const { terminated } = await client.call("thread/backgroundTerminals/terminate", {
          threadId,
          processId,
        });
        world.check(() => assert.equal(terminated, true));
      }
      await client.until("its end", () => ofCommand(client, "item/completed").length > 0);
      const [completed] = ofCommand(client, "item/completed");
      world.check(() => assert.equal(completed!.params!.turnId, turnId));
      const item = await lastCommand(client, threadId);
      world.check(() => assert.deepEqual(item, completed!.params!.item));
      if (asks) {
        client.answer(client.frames.find(isQuestion)!.id!, {
          result: { answers: { q: { answers: ["A"] } } },
        });
        await client.turnEnd(turnId);
      }
      await host.close();
    },
  );

  simulate(
    "[EXEC-8] does not keep a thread loaded that nobody uses, and ends with it",
    { count: 15, full: 300 },
    async (world) => {
      const { random } = world;
      addPrograms(world);
      world.model.scripts = leaves;
      const config = { ...CONFIG, maxResidentThreads: 1 };
      const host = await world.start({ config });
      const client = host.connect();
      const witness = host.connect();
      await client.initialize({
        experimentalApi: true,
        threadUnloadDelaySecs: random.pick([0, 1, 100]),
      });
      await witness.initialize({ experimentalApi: true });
      const threadId = await client.startThread();
      const turnId = await client.startTurn(threadId, "run: work 1000000 1000 3");
      await client.turnEnd(turnId);
      // Half of the threads hibernate.
      if (random.chance(0.5)) await client.turnEnd(await client.startTurn(await client.startThread()));
      world.check(() => assert.notDeepEqual(world.processes.of(host), []));
      if (random.chance(0.5)) await client.call("thread/unsubscribe", { threadId });
      else client.cut();
      await witness.until(
        "its thread is closed",
        ({ method, params }) => method === "thread/closed" && params!.threadId === threadId,
      );
      world.check(() => assert.deepEqual(world.processes.of(host), [], "left when it is unloaded"));
      const item = await lastCommand(witness, threadId);
      world.check(() => assert.deepEqual([item!.status, item!.exitCode], ["failed", -1]));
      await host.close();
    },
  );
});

describe("a machine without terminals", () => {
  simulate(
    "[PROC-14] runs commands on pipes, and the model and the client hear of it",
    { count: 3, full: 30 },
    async (world) => {
      addPrograms(world);
      world.processes.hasTerminals = false;
      const outputs: string[] = [];
      world.model.scripts = ({ context }) => {
        const last = context.at(-1);
        const call = (name: string, args: object) => ({ steps: [{ do: "call", name, args } as const] });
        if (last?.type !== "toolOutput")
          return call("exec_command", { cmd: "echo", tty: true, login: false, yield_time_ms: 300 });
        outputs.push(String(last.output));
        if (outputs.at(-1)!.includes("hello")) return { steps: [{ do: "say", pieces: ["Done"] } as const] };
        // It may take longer to answer than a call waits.
        const chars = outputs.length === 1 ? "hello\n" : "";
        return call("write_stdin", { session_id: Number(lastSession(context)), chars });
      };
      const host = await world.start({ config: CONFIG });
      const client = host.connect();
      await client.initialize({ experimentalApi: true });
      const threadId = await client.startThread();
      await client.turnEnd(await client.startTurn(threadId));
      world.check(() => {
        assert.match(outputs[0]!, /has no terminals, so the command runs on pipes/);
        assert.match(outputs.at(-1)!, /Output:\nhello/);
      });
      await client.call("process/spawn", {
        command: ["work", "1"],
        cwd: "/work",
        processHandle: "p",
        tty: true,
      });
      await client.until("its exit", ({ method }) => method === "process/exited");
      const warned = client.frames.filter(({ method }) => method === "warning");
      world.check(() => assert.equal(warned.length, 1));
      world.check(() => assert.match(String(warned[0]!.params!.message), /the program runs on pipes/));
      await host.close();
    },
  );
});

describe("the durations of commands", () => {
  simulate(
    "[CLOCK-3] last as long as their programs run, however long the user is asked, and when the clock is set",
    { count: 20, full: 200 },
    async (world) => {
      const HOUR = 3_600_000;
      addPrograms(world);
      world.model.scripts = ({ context }) =>
        context.some(({ type }) => type === "toolOutput")
          ? { steps: [{ do: "say", pieces: ["Done"] }] }
          : { steps: [{ do: "call", name: "exec_command", args: { cmd: "work 2 400 0", login: false } }] };
      const config = readConfig({ sandbox_mode: "danger-full-access", approval_policy: "untrusted" });
      const host = await world.start({ config });
      const client = host.connect();
      client.rules.onlyReplies = true;
      await client.initialize({ experimentalApi: true });
      const threadId = await client.startThread();
      const turnId = await client.startTurn(threadId);
      const isQuestion = ({ method }: Message) => method === "item/commandExecution/requestApproval";
      await client.until("the question", isQuestion);
      await world.sleep(HOUR);
      client.answer(client.frames.find(isQuestion)!.id!, { result: { decision: "accept" } });
      await client.until("its output", ({ method }) => method === "item/commandExecution/outputDelta");
      world.scheduler.skew = world.random.pick([-5, 5]) * HOUR;
      await client.turnEnd(turnId);
      const items = client.frames.flatMap(({ method, params }) => {
        const item = params?.item as { type: string; durationMs: number } | undefined;
        return method === "item/completed" && item?.type === "commandExecution" ? [item] : [];
      });
      world.check(() => {
        assert.equal(items.length, 1);
        assert.ok(items[0]!.durationMs >= 800 && items[0]!.durationMs < HOUR / 2, `${items[0]!.durationMs}`);
      });
      await host.close();
    },
  );
});
