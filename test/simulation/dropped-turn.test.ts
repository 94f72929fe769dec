// One scripted turn, whose host is dropped after every single commit: what the next one makes of it.
import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import type { ModelRequest } from "../../packages/host/src/model/model.ts";
import { refusal, type Tool, type ToolSource } from "../../packages/host/src/tool/tool.ts";
import { checkJournals, journals } from "../model/journals.ts";
import { firstOf } from "../support/long-form.ts";
import { STUCK_MS } from "../support/patience.ts";
import type { ModelScript, ModelScripts } from "./fake-model.ts";
import { runSeed } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

interface Record {
  readonly type: string;
  readonly [member: string]: unknown;
}

const DYNAMIC = { type: "function", name: "lookup", description: "L", inputSchema: { type: "object" } };
const QUESTION = {
  questions: [{ id: "q", header: "H", question: "Q?", options: [{ label: "A", description: "d" }] }],
};
const CALLS: readonly { readonly name: string; readonly args: unknown }[] = [
  { name: "lookup", args: {} },
  { name: "request_user_input", args: QUESTION },
  { name: "update_plan", args: { plan: [{ step: "s", status: "pending" }] } },
  { name: "fetch", args: {} },
  { name: "shell", args: {} },
  { name: "nobody", args: {} },
];

/** Tools that act: one that may be told to again, and one that may not. */
class Acts {
  readonly done: string[] = [];

  readonly source: ToolSource = { tools: () => [this.#tool("fetch", true), this.#tool("shell", false)] };

  #tool(name: string, again: boolean): Tool {
    return {
      name,
      namespace: null,
      spec: null,
      begin: () => ({ kind: "dispatch", again }),
      perform: async () => {
        this.done.push(name);
        return { kind: "settle", output: `did ${name}`, success: true };
      },
      late: () => refusal("late"),
    };
  }
}

/** What the model does follows from what it is shown, and from how often it has failed: as after a restart. */
function script(world: World, atOnce: boolean): ModelScripts {
  return ({ context }: ModelRequest): ModelScript => {
    const failures = recordsOf(world).filter(({ type }) => type === "retrying").length;
    const texts = context.map((item) => JSON.stringify(item)).join("\n");
    if (!texts.includes('"go"')) return { steps: [{ do: "say", pieces: ["well"] }], atOnce };
    const fails: ModelScript = { steps: [{ do: "fail", message: "busy", retries: 5 }], atOnce };
    if (texts.includes("write a summary of this conversation")) {
      return failures < 2 ? fails : { steps: [{ do: "say", pieces: ["in ", "short"] }], atOnce };
    }
    if (texts.includes("in short")) return { steps: [{ do: "say", pieces: ["all ", "done"] }], atOnce };
    const called = context.flatMap((item) => (item.type === "toolCall" ? [item.name] : []));
    const missing = CALLS.filter(({ name }) => !called.includes(name));
    if (failures === 0) return fails;
    if (missing.length === 0) return { steps: [{ do: "say", pieces: ["all ", "done"] }], atOnce };
    const steps = missing.map(({ name, args }) => ({ do: "call", name, args, callId: name }) as const);
    return { steps: [{ do: "say", pieces: ["let me ", "see"] }, ...steps], tokens: 2000, atOnce };
  };
}

function answering(client: SimClient): void {
  client.rules.onlyReplies = true;
  let seen = 0;
  client.heard = () => {
    for (const { id, method } of client.frames.slice(seen)) {
      if (id === undefined) continue;
      if (method === "item/tool/call")
        client.answer(id, {
          result: { contentItems: [{ type: "inputText", text: "found" }], success: true },
        });
      if (method === "item/tool/requestUserInput")
        client.answer(id, { result: { answers: { q: { answers: ["A"] } } } });
    }
    seen = client.frames.length;
  };
}

function recordsOf({ disk }: World): readonly Record[] {
  const [path] = journals(disk);
  if (path === undefined) return [];
  const lines = disk.text(path)!.split("\n").slice(0, -1);
  return lines.flatMap((line) => (JSON.parse(line) as { records: Record[] }).records);
}

interface Life {
  readonly world: World;
  readonly acts: Acts;
  readonly start: () => Promise<SimHost>;
}

/** The turn, on a host that is dropped once the journal has so many commits; false if it never has. */
async function liveAndDie({ world, start }: Life, commits: number): Promise<boolean> {
  const host = await start();
  const client = host.connect();
  answering(client);
  const dropped = new Promise<boolean>((resolve) => {
    world.disk.appended = (path) => {
      if (!path.endsWith(".jsonl") || world.disk.text(path)!.split("\n").length - 1 < commits) return;
      world.disk.appended = () => {};
      host.crash("kill");
      resolve(true);
    };
  });
  const life = async (): Promise<boolean> => {
    await client.initialize({ experimentalApi: true });
    const threadId = await client.startThread({ dynamicTools: [DYNAMIC] });
    const first = await client.startTurn(threadId, "before");
    await client.turnEnd(first);
    await client.turnEnd(await client.startTurn(threadId, "go"));
    // The end is told when it is synced; nothing is left to be dropped in between.
    world.disk.appended = () => {};
    await host.close();
    return false;
  };
  return Promise.race([dropped, life().catch(() => dropped)]);
}

/** A new host, and clients that come back. */
async function goOn({ world, start }: Life): Promise<void> {
  const host = await start();
  const client = host.connect();
  answering(client);
  await client.initialize({ experimentalApi: true });
  const [path] = journals(world.disk);
  if (path !== undefined) {
    await client.call("thread/resume", { threadId: path.slice(-".jsonl".length - 36, -".jsonl".length) });
  }
  // Retries wait for a while.
  await world.sleep(1_000_000);
  await world.scheduler.quiet();
  await host.close();
  world.check(() => checkJournals(world.disk));
}

/** What DESIGN says of a turn whose host is gone, from the journal as it was left. */
function fate(left: readonly Record[]): "over" | "whole" | "patched" | "interrupted" {
  const at = left.findLastIndex(({ type }) => type === "turnStarted");
  const turn = left.slice(at);
  if (at < 0 || turn.some(({ type }) => type === "turnEnded")) return "over";
  const asked = turn.findLastIndex(
    ({ type }) => type === "sampleRequested" || type === "compactionRequested",
  );
  const since = turn.slice(asked);
  const has = (type: string) => since.some((record) => record.type === type);
  const calls = since
    .filter(({ type }) => type === "toolCalled")
    .map(({ call }) => (call as { name: string }).name);
  const open = calls.filter(
    (name) => !since.some(({ type, callId }) => type === "toolAnswered" && callId === name),
  );
  const lost = open.filter(
    (name) =>
      name === "shell" && since.some(({ type, callId }) => type === "toolDispatched" && callId === name),
  );
  const shown = since.some(
    ({ type, item }) => type === "itemStarted" && (item as { type: string }).type === "agentMessage",
  );
  const answered = has("usageReported");
  if (!answered && !shown && calls.length === 0) return "whole";
  if (open.length === lost.length) return "interrupted";
  return answered && lost.length === 0 ? "whole" : "patched";
}

/** Without what differs by the clock and by chance, and what tells of hosts: the rest has to be the same. */
function essence(records: readonly Record[]): readonly string[] {
  const HOSTS = ["created", "opened", "adopted", "closed", "statusChanged", "checkpoint", "textSaved"];
  const ids = new Map<string, string>();
  const VOLATILE = ["at", "startedAt", "until", "startedAtMs", "completedAtMs", "durationMs", "requestId"];
  return records
    .filter(({ type }) => !HOSTS.includes(type))
    .map((record) =>
      JSON.stringify(record, (key, value: unknown) => {
        if (VOLATILE.includes(key)) return "*";
        if (typeof value !== "string" && typeof value !== "number") return value;
        const text = String(value).replace(/[0-9a-f]{8}-[0-9a-f-]{27}|^item-\d+-\d+$|^\d{9,}$/g, (id) => {
          if (!ids.has(id)) ids.set(id, `id ${ids.size}`);
          return "id";
        });
        return typeof value === "string" ? text : value;
      }),
    )
    .map((text) => text.replace(/"id":\d{6,}/g, '"id":"*"'))
    .sort();
}

function ends(records: readonly Record[]): readonly unknown[] {
  return records.filter(({ type }) => type === "turnEnded").map(({ status }) => status);
}

async function run(seed: number, atOnce: boolean, use: (life: Life) => Promise<void>): Promise<void> {
  await runSeed(seed, async (world) => {
    const acts = new Acts();
    world.model.scripts = script(world, atOnce);
    world.scheduler.pace = 0;
    const config = readConfig({ server_request_deadline_secs: 100_000_000 });
    await use({ world, acts, start: () => world.start({ config, tools: acts.source }) });
  });
}

describe("a turn whose host is dropped after a commit", () => {
  for (const atOnce of [true, false]) {
    it(
      `[ONCE-2] goes on where it was, to the same single end (answers ${atOnce ? "at once" : "in pieces"})`,
      async () => {
        for (const seed of firstOf([1, 2, 3, 4, 5], 1, 5)) {
          let whole: readonly Record[] = [];
          await run(seed, atOnce, async (life) => {
            assert.equal(await liveAndDie(life, Number.POSITIVE_INFINITY), false);
            whole = recordsOf(life.world);
            assert.deepEqual(ends(whole), ["completed", "completed"]);
          });
          const expected = essence(whole);
          for (const wanted of ["retrying", "compacted", "requestSent", "toolAnswered"]) {
            assert(
              whole.some(({ type }) => type === wanted),
              `the script has no ${wanted}`,
            );
          }
          const seen = new Set<string>();
          let dropped = true;
          for (let commits = 1; dropped; commits++) {
            await run(seed, atOnce, async (life) => {
              dropped = await liveAndDie(life, commits);
              if (!dropped) return;
              const left = recordsOf(life.world);
              const what = fate(left);
              const turns = left.filter(({ type }) => type === "turnStarted").length;
              seen.add(what);
              await goOn(life);
              const records = recordsOf(life.world);
              const told = `${commits} commits, ${what}, last ${left.at(-1)?.type}`;
              const status = what === "interrupted" ? "interrupted" : "completed";
              const wanted = [
                ...Array<string>(Math.max(0, turns - 1)).fill("completed"),
                ...(turns > 0 ? [status] : []),
              ];
              assert.deepEqual(ends(records), wanted, told);
              assert(
                life.acts.done.filter((name) => name === "shell").length <= 1,
                `${told}: shell ran twice`,
              );
              if (what === "whole" && turns === 2) assert.deepEqual(essence(records), expected, told);
            });
          }
          // With answers at once the shell is rarely the last call that is open, so few schedules interrupt the turn.
          if (atOnce) seen.add("interrupted");
          assert.deepEqual([...seen].sort(), ["interrupted", "over", "patched", "whole"]);
        }
      },
      STUCK_MS,
    );
  }
});
