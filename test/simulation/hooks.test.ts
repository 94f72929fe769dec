// Hooks, while hosts die: a hook whose answer was shown is not asked again, and what it refused is never done.
import assert from "node:assert/strict";
import { afterAll, describe } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { SUMMARY_PROMPT } from "../../packages/host/src/turn/context/compaction-summary.ts";
import { helped } from "../model/helped.ts";
import { checkJournals, type JournalRecord, recordsOf } from "../model/journals.ts";
import { askedDeeds } from "./asked-deeds.ts";
import { agent, DONE, DyingHosts, deedTool } from "./deeds.ts";
import { familyOf, results, timesShown } from "./family.ts";
import { type HookInput, HookProgram, writeHooks } from "./hook-program.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { World } from "./world.ts";

const HOUR = 60 * 60_000;
const CONFIG = readConfig({ sandbox_mode: "danger-full-access", approval_policy: "on-request" });

/** What a hook is asked about: each prompt has another number, and a turn may have more than one. */
function subjectOf({
  hook_event_name: event,
  turn_id,
  tool_use_id,
  prompt,
  stop_hook_active,
}: HookInput): string {
  return `${event} ${tool_use_id ?? prompt ?? `${turn_id} ${stop_hook_active}`}`;
}

/** Refuses what is odd, and has the model go on once. */
function answerTo({ hook_event_name: event, prompt, tool_input, stop_hook_active }: HookInput): object {
  if (event === "UserPromptSubmit" && prompt!.startsWith("forbidden"))
    return { decision: "block", reason: "No." };
  if (event === "PreToolUse" && tool_input!.n % 2 === 1) return { decision: "block", reason: "Odd." };
  if (event === "PostToolUse") return { decision: "block", reason: `Seen ${tool_input!.n}.` };
  if (event === "Stop" && !stop_hook_active) return { decision: "block", reason: "Go on." };
  return {};
}

afterAll(() => assert(HookProgram.runs > 100, "hardly any hook ever ran"));

describe("hooks", () => {
  simulate(
    "[HOOK-10] count once for what they said, and run again for what they did not, whenever their host dies",
    { count: 15, full: 200 },
    async (world) => {
      const { random } = world;
      const done: number[] = [];
      const hosts = new DyingHosts(world);
      const hook = new HookProgram(world, ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"], {
        subject: subjectOf,
        answer: answerTo,
        powerCut: () => hosts.powerCut,
      });
      world.model.scripts = (request) => {
        const all = JSON.stringify(request.context);
        world.check(() => assert(!all.includes("forbidden"), "the model is shown what a hook blocked"));
        world.check(() => assert(!/did \d/.test(all), "the model is shown an output that a hook replaced"));
        return agent(request);
      };
      let deed = 0;
      const live = async (client: SimClient) => {
        hook.attend(client);
        await hosts.enter(client);
        for (let turns = 0; turns < 4; turns++)
          await hosts.turn(client, `${random.chance(0.25) ? "forbidden" : "act"} ${++deed}`, 0.1);
      };
      const tool = deedTool(done);
      const start = () => world.start({ config: CONFIG, tools: { tools: () => [tool] } });
      await hosts.live({ start, steps: [40, 400], live });
      world.check(() => {
        assert.deepEqual(
          done.filter((n) => n % 2 === 1),
          [],
        );
        if (!hosts.powerCut) assert.equal(new Set(done).size, done.length, "a deed was done twice");
      });
    },
  );

  simulate(
    "[HOOK-10] that answer in place of people are asked once, and people only what hooks leave to them, whenever the host dies",
    { count: 10, full: 200 },
    async (world) => {
      const done: number[] = [];
      const hosts = new DyingHosts(world);
      const hook = new HookProgram(world, ["PermissionRequest"], {
        subject: ({ tool_input }) => `deed ${tool_input!.n}`,
        // Of three deeds one is allowed, one is denied, and one is left to people.
        answer: ({ tool_input }) => {
          const behavior = ["allow", "deny"][tool_input!.n % 3];
          if (behavior === undefined) return {};
          const decision = { behavior, ...(behavior === "deny" && { message: "No." }) };
          return { hookSpecificOutput: { hookEventName: "PermissionRequest", decision } };
        },
        powerCut: () => hosts.powerCut,
      });
      world.model.scripts = agent;
      /** Whether people were asked at all, and agreed. */
      const agreed = new Set<number>();
      const answerAll = (client: SimClient) => {
        const questions = new Set<number>();
        return () => {
          for (const { id, method, params } of client.frames) {
            if (method !== "item/commandExecution/requestApproval" || questions.has(id!)) continue;
            questions.add(id!);
            const deed = Number((params!.command as string).slice(4));
            world.check(() => assert.equal(deed % 3, 2, `people are asked about deed ${deed}`));
            const decision = deed % 2 === 0 ? "accept" : "decline";
            if (decision === "accept") agreed.add(deed);
            client.answer(id!, { result: { decision } });
          }
        };
      };
      let deed = 0;
      const live = async (client: SimClient) => {
        hook.attend(client, answerAll(client));
        await hosts.enter(client);
        for (let turns = 0; turns < 4; turns++) await hosts.turn(client, `act ${++deed}`, 0.1);
      };
      const start = () => world.start({ config: CONFIG, tools: askedDeeds(done) });
      await hosts.live({ start, steps: [40, 300], live });
      world.check(() => {
        for (const n of done) assert(n % 3 === 0 || agreed.has(n), `deed ${n} was done unasked`);
        if (!hosts.powerCut) assert.equal(new Set(done).size, done.length, "a deed was done twice");
      });
    },
  );

  simulate(
    "[HOOK-10] of compactions are asked once for each, and one that they refuse is not made, whenever the host dies",
    { count: 12, full: 200 },
    async (world) => {
      const { random, disk } = world;
      const hosts = new DyingHosts(world);
      const refused = new Set<string>();
      let last = "";
      const hook = new HookProgram(world, ["PreCompact", "PostCompact"], {
        subject: ({ hook_event_name: event, turn_id }) => `${event} ${turn_id}`,
        answer: ({ hook_event_name: event, turn_id }) => {
          if (event !== "PreCompact") return {};
          last = turn_id;
          if (!/[0-3]$/.test(turn_id)) return {};
          refused.add(turn_id);
          return { continue: false, stopReason: "Not now." };
        },
        powerCut: () => hosts.powerCut,
      });
      world.model.scripts = ({ context }) => {
        if (!JSON.stringify(context).includes(JSON.stringify(SUMMARY_PROMPT).slice(1, -1)))
          return { ...DONE, tokens: random.chance(0.5) ? 950 : 3 };
        world.check(() => assert(!refused.has(last), "a summary is made that a hook refused"));
        const retry = random.chance(0.2)
          ? ([{ do: "fail", message: "busy", retries: 3 }] as const)
          : undefined;
        return { steps: retry ?? [{ do: "say", pieces: ["A summary"] }] };
      };
      const live = async (client: SimClient) => {
        hook.attend(client);
        const threadId = await hosts.enter(client);
        await hosts.idle(client);
        for (let turns = 0; turns < 4; turns++) {
          await hosts.turn(client, "hello", 0.1);
          if (random.chance(0.5)) continue;
          const before = client.frames.length;
          await client.call("thread/compact/start", { threadId });
          const isStart = ({ method }: { method?: string }) => method === "turn/started";
          await client.until(
            "a compaction",
            (frame) => client.frames.indexOf(frame) >= before && isStart(frame),
          );
          const { turn } = client.frames.slice(before).find(isStart)!.params as { turn: { id: string } };
          await client.turnEnd(turn.id);
        }
      };
      const host = await hosts.live({ start: () => world.start({ config: CONFIG }), steps: [40, 300], live });
      await host.close();
      world.check(() => {
        checkJournals(disk);
        const { parent: records } = familyOf(world, hosts.threadId!);
        for (const turnId of completedTurns(records)) {
          const made = ofTurn(records, turnId, "compacted").length;
          // The turn goes on without a summary when the model fails at each retry.
          const failed = ofTurn(records, turnId, "compactionFailed").length;
          assert(made + failed <= 1);
          assert.equal(hooksOf(records, turnId, "preCompact"), made + failed, `PreCompact of ${turnId}`);
          assert.equal(hooksOf(records, turnId, "postCompact"), made, `PostCompact of ${turnId}`);
        }
      });
    },
  );

  simulate(
    "[HOOK-10] of helpers run before the first call of their model and before their end, once, whenever the host dies",
    { count: 8, full: 200 },
    async (world) => {
      const { random, scheduler, disk } = world;
      const hosts = new DyingHosts(world);
      const CONTEXT = "Helpers are polite.";
      const hook = new HookProgram(world, ["SubagentStart", "SubagentStop"], {
        subject: ({ hook_event_name: event, agent_id, turn_id, stop_hook_active: again }) =>
          event === "SubagentStart" ? `${event} ${agent_id}` : `${event} ${turn_id} ${again}`,
        answer: ({ hook_event_name: event, stop_hook_active: again }) => {
          const hookSpecificOutput = { hookEventName: event, additionalContext: CONTEXT };
          if (event === "SubagentStart") return { hookSpecificOutput };
          return again ? {} : { decision: "block", reason: "Say it again." };
        },
        powerCut: () => hosts.powerCut,
      });
      world.model.scripts = (request, ...more) => {
        const all = JSON.stringify(request.context);
        if (all.includes("a task") && !all.includes("spawn"))
          world.check(() => assert.equal(all.split(CONTEXT).length, 2, "a helper's model is told once"));
        return helped(request, ...more);
      };
      const said = ["spawn wait", "spawn wait send wait", "spawn spawn"];
      const live = async (client: SimClient) => {
        hook.attend(client);
        await hosts.enter(client);
        for (let turns = 0; turns < 2; turns++) await hosts.turn(client, random.pick(said), 0);
      };
      const config = readConfig({ sandbox_mode: "danger-full-access", agents: { max_threads: 100 } });
      const host = await hosts.live({ start: () => world.start({ config }), steps: [60, 500], live });
      // Until helpers have ended that nobody waited for.
      await world.sleep(3 * HOUR);
      await scheduler.quiet();
      const client = host.connect();
      client.rules.onlyReplies = true;
      await client.initialize({ experimentalApi: true });
      await client.call("thread/resume", { threadId: hosts.threadId! });
      // The model gets results that no call waited for with the next user message.
      await client.turnEnd(await client.startTurn(hosts.threadId!, "and now"));
      await world.sleep(3 * HOUR);
      await scheduler.quiet();
      await host.close();
      world.check(() => {
        checkJournals(disk);
        const family = familyOf(world, hosts.threadId!);
        for (const result of results(family)) assert.equal(timesShown(family, result), 1, result);
        for (const records of family.children.values())
          for (const turnId of completedTurns(records))
            assert.equal(hooksOf(records, turnId, "subagentStop"), 2, `SubagentStop of ${turnId}`);
      });
    },
  );

  /** What a user does so that hooks of an event run, and how it ends. */
  const scenes: Readonly<Record<string, { readonly says: string; ended(world: World, id: string): void }>> = {
    PermissionRequest: {
      says: "act 2",
      ended: (world, id) => {
        const { parent } = familyOf(world, id);
        assert.deepEqual(
          parent.filter(({ type }) => type === "toolAnswered").map(({ output }) => output),
          ["did 2"],
        );
      },
    },
    PreCompact: { says: "compact", ended: isCompactedOnce },
    PostCompact: { says: "compact", ended: isCompactedOnce },
    SubagentStart: { says: "spawn wait", ended: hasOneResult },
    SubagentStop: { says: "spawn wait", ended: hasOneResult },
  };
  for (const [event, { says, ended }] of Object.entries(scenes))
    simulate(
      `[HOOK-10] are not asked again by the host that follows one that died of the record of their answer: ${event}`,
      { count: 2, full: 20 },
      async (world) => {
        const done: number[] = [];
        const hosts = new DyingHosts(world);
        const hook = new HookProgram(world, [event], {
          subject: ({ hook_event_name, turn_id }) => `${hook_event_name} ${turn_id}`,
          answer: () => ({}),
          powerCut: () => false,
        });
        world.model.scripts = (request, ...more) =>
          says.startsWith("act") ? agent(request) : helped(request, ...more);
        const start = () => world.start({ config: CONFIG, tools: askedDeeds(done) });
        const first = await start();
        const died = new Promise<void>((resolve) => {
          world.disk.appended = (path) => {
            const isAnswered = path.endsWith(".jsonl") && lastRecords(world, path).some(isEndOf(event));
            if (!isAnswered || !first.alive) return;
            first.crash("kill");
            resolve();
          };
        });
        const live = async (client: SimClient) => {
          client.rules.onlyReplies = true;
          hook.attend(client, acceptAll(client));
          const threadId = await hosts.enter(client);
          await hosts.idle(client);
          if (hook.asked.length > 0) return;
          if (says === "compact") await client.call("thread/compact/start", { threadId });
          else await client.startTurn(threadId, says);
        };
        await Promise.all([died, live(first.connect()).catch(() => {})]);
        const second = await start();
        await live(second.connect());
        await world.sleep(HOUR);
        await world.scheduler.quiet();
        await second.close();
        world.check(() => {
          assert.equal(hook.asked.length, 1);
          ended(world, hosts.threadId!);
        });
      },
    );

  simulate(
    "[HOOK-10] of a turn's end run again in the host that follows one that died meanwhile, and then it ends",
    { count: 4, full: 50 },
    async (world) => {
      let runs = 0;
      world.processes.programs.set("gate", async (process) => {
        await process.read();
        if (++runs === 1) await process.forever();
        return 0;
      });
      writeHooks(world, ["Stop"]);
      world.model.scripts = () => DONE;
      const first = await world.start({ config: CONFIG });
      const before = first.connect();
      await before.initialize({ experimentalApi: true });
      const threadId = await before.startThread();
      const turnId = await before.startTurn(threadId, "hello");
      while (runs === 0) await world.sleep(1);
      first.crash("kill");
      const second = await world.start({ config: CONFIG });
      const after = second.connect();
      await after.initialize({ experimentalApi: true });
      await after.call("thread/resume", { threadId });
      await after.turnEnd(turnId);
      const ended = after.frames.findLast(({ method }) => method === "turn/completed");
      world.check(() => {
        assert.equal(runs, 2);
        const { status } = ended!.params!.turn as { status: string };
        assert.equal(status, "completed");
      });
    },
  );
});

function isCompactedOnce(world: World, threadId: string): void {
  const { parent } = familyOf(world, threadId);
  assert.equal(parent.filter(({ type }) => type === "compacted").length, 1);
}

function hasOneResult(world: World, threadId: string): void {
  const family = familyOf(world, threadId);
  const said = results(family);
  assert.equal(said.length, 1);
  assert.equal(timesShown(family, said[0]!), 1);
}

/** Says yes to whatever people are asked. */
function acceptAll(client: SimClient): () => void {
  const answered = new Set<number>();
  return () => {
    for (const { id, method } of client.frames) {
      if (method !== "item/commandExecution/requestApproval" || answered.has(id!)) continue;
      answered.add(id!);
      client.answer(id!, { result: { decision: "accept" } });
    }
  };
}

/** The records of the last commits of a journal. */
function lastRecords({ disk }: World, path: string): readonly JournalRecord[] {
  return recordsOf(disk, path).slice(-8);
}

function isEndOf(name: string): (record: JournalRecord) => boolean {
  const event = `${name[0]!.toLowerCase()}${name.slice(1)}`;
  return (record) => record.type === "hooksEnded" && record.event === event;
}

function ofTurn(records: readonly JournalRecord[], turnId: string, type: string): readonly JournalRecord[] {
  return records.filter((record) => record.type === type && record.turnId === turnId);
}

function completedTurns(records: readonly JournalRecord[]): readonly string[] {
  return records.flatMap(({ type, status, turnId }) =>
    type === "turnEnded" && status === "completed" ? [turnId as string] : [],
  );
}

function hooksOf(records: readonly JournalRecord[], turnId: string, event: string): number {
  return ofTurn(records, turnId, "hooksEnded").filter((record) => record.event === event).length;
}
