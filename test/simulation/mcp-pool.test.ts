// The pool of MCP servers on fake processes: servers that are slow, hang, die and ask, threads that come and go, hosts that die.
import "../../packages/host/src/tool/mcp/mcp-servers.ts";
import assert from "node:assert/strict";
import { describe } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import type { ContextItem } from "../../packages/host/src/model/model.ts";
import { loadLibrary } from "../../packages/host/src/tool/mcp/client-library.ts";
import type { FakeProcess, FakeProgram } from "./fake-spawn.ts";
import type { Random } from "./random.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

// The scheduler does not see what a host loads.
await loadLibrary();

const CONFIG = readConfig({
  approval_policy: "never",
  mcp_servers: Object.fromEntries(
    ["notes", "files"].map((name) => [
      name,
      {
        command: "mcp",
        args: [name],
        startup_timeout_sec: 5,
        tool_timeout_sec: 5,
        default_tools_approval_mode: "approve",
      },
    ]),
  ),
});

interface Request {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: {
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
    readonly protocolVersion: string;
  };
}

/** A server that may do anything to a call but answer it wrongly. */
function server(random: Random): FakeProgram {
  return async (process) => {
    if (random.chance(0.1)) return process.forever();
    await process.sleep(random.between(0, 3000));
    if (random.chance(0.1)) return 1;
    const reply = async (id: unknown, body: object) =>
      process.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
    let rest = "";
    for (let text = await process.read(); text !== undefined; text = await process.read()) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const { id, method, params } = JSON.parse(line) as Request;
        if (id === undefined || method === undefined) continue;
        if (method === "tools/call") {
          if (random.chance(0.1)) return 3;
          if (random.chance(0.1)) continue;
          await process.sleep(random.pick([0, 0, 10, 4000]));
        }
        const result = resultOf(process, method, params);
        if (result === undefined) await reply(id, { error: { code: -32_601, message: "Method not found" } });
        else await reply(id, { result });
        if (random.chance(0.05)) await reply(id, { result: { content: [{ type: "text", text: "again" }] } });
        if (random.chance(0.05)) await process.write("no message\n");
      }
    }
    return 0;
  };
}

function resultOf({ cwd }: FakeProcess, method: string, params: Request["params"]): object | undefined {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params!.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "fake", version: "1" },
      };
    case "tools/list":
      return {
        tools: [{ name: "echo", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }],
      };
    case "tools/call":
      return { content: [{ type: "text", text: `${params!.arguments.text} in ${cwd}` }] };
    default:
      return undefined;
  }
}

/** Calls one of the servers now and then; each call has a text of its own. */
function act(random: Random, tools: readonly string[], count: () => number) {
  const known = tools.filter((name) => name.startsWith("mcp__"));
  if (known.length === 0 || random.chance(0.4)) return { steps: [{ do: "say", pieces: ["Done"] } as const] };
  const namespace = random.pick(known);
  return { steps: [{ do: "call", name: "echo", namespace, args: { text: `call ${count()}` } } as const] };
}

/** Each output is of the call that it answers, in the folder of its thread. */
function checkOutputs(world: World, context: readonly ContextItem[], folders: readonly string[]): void {
  const asked = new Map(
    context.flatMap((item): [string, string][] =>
      item.type === "toolCall" ? [[item.callId, (JSON.parse(item.arguments) as { text: string }).text]] : [],
    ),
  );
  for (const item of context) {
    if (item.type !== "toolOutput") continue;
    const output = JSON.stringify(item.output);
    const found = /call \d+ in (\/\w+)/.exec(output);
    if (found === null) continue;
    world.check(() => assert.ok(output.includes(`${asked.get(item.callId)} in `), `not its own: ${output}`));
    world.check(() => assert.ok(folders.includes(found[1]!)));
  }
}

describe("the pool of MCP servers", () => {
  simulate(
    "[MCP-3] [MCP-6] ends every call once with its own answer, and leaves no process, whatever servers and hosts do",
    { count: 5, full: 60 },
    async (world) => {
      const { random } = world;
      const folders = ["/one", "/two"];
      world.processes.programs.set("mcp", server(random));
      let calls = 0;
      world.model.scripts = ({ context, tools }) => {
        checkOutputs(world, context, folders);
        const namespaces = tools.flatMap((tool) =>
          "namespace" in tool && tool.namespace ? [tool.namespace] : [],
        );
        return act(random, namespaces, () => ++calls);
      };
      const items = (client: SimClient, method: string) =>
        client.frames
          .filter((frame) => frame.method === method)
          .map(({ params }) => params!.item as { id: string; type: string })
          .filter(({ type }) => type === "mcpToolCall")
          .map(({ id }) => id);
      const live = async (host: SimHost, client: SimClient) => {
        await client.initialize({ experimentalApi: true });
        const threads = await Promise.all(
          Array.from({ length: 3 }, async () => {
            const { thread } = await client.call("thread/start", { cwd: random.pick(folders) });
            return (thread as { id: string }).id;
          }),
        );
        await Promise.all(
          threads.map(async (threadId) => {
            for (let turns = 0; turns < 4; turns++) {
              const turnId = await client.startTurn(threadId);
              if (random.chance(0.2)) {
                await world.sleep(random.between(1, 5000));
                await client.request("turn/interrupt", { threadId, turnId });
              }
              await client.turnEnd(turnId);
            }
            await client.call("thread/unload", { threadId, interrupt: true });
          }),
        );
        const shared = new Set(world.processes.of(host).map(({ argv, cwd }) => `${argv.join(" ")} ${cwd}`));
        world.check(() =>
          assert.equal(world.processes.of(host).length, shared.size, "more than one for a folder"),
        );
        await world.sleep(20_000);
        world.check(() =>
          assert.deepEqual(world.processes.of(host), [], "left when all threads are unloaded"),
        );
      };
      for (let lives = 0; lives < 2; lives++) {
        const host = await world.start({ config: CONFIG });
        const client = host.connect();
        client.rules.onlyReplies = true;
        const dead = host.crashIn(random.between(200, 2000), () => random.pick(["kill", "power"]));
        await Promise.all([dead, live(host, client).catch(() => {})]);
        const completed = items(client, "item/completed");
        world.check(() => assert.deepEqual(completed, [...new Set(completed)], "completed twice"));
      }
      const host = await world.start({ config: CONFIG });
      const client = host.connect();
      await live(host, client);
      const started = items(client, "item/started");
      world.check(() => assert.deepEqual(items(client, "item/completed").sort(), started.sort()));
      await world.scheduler.quiet();
      await host.close();
    },
  );
});
