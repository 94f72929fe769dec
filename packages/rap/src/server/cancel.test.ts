import { describe, expect, it } from "vitest";
import { RapWorld } from "../../../../test/support/rap-world.ts";
import { bearer, type ToolContext, tool } from "./index.ts";

const HOSTILE = [
  "",
  "../../../etc/passwd",
  "..\\..\\windows",
  "thread_1\0",
  "thread_1\n",
  "\ud83d",
  "＇；drop table",
  "__proto__",
  "constructor",
  "x".repeat(10_240),
  null,
  7,
  {},
  ["thread_1"],
];

function held() {
  const runs: { ctx: ToolContext; end: (text: string) => void }[] = [];
  const made = tool({
    name: "held",
    description: "Waits.",
    run: (_, ctx) => new Promise<string>((end) => runs.push({ ctx, end })),
  });
  return { tool: made, runs };
}

const cancel = (
  world: RapWorld,
  server: ReturnType<RapWorld["server"]>,
  thread_id: unknown,
  tool_call_id: unknown,
) => world.post(server, "/cancel_tool_call", { thread_id, tool_call_id });

describe("a cancellation", () => {
  it("[RAPS-51] aborts the call, whose tool may still return a result", async () => {
    const world = new RapWorld();
    const { tool, runs } = held();
    const server = world.server({ tools: [tool] });
    await world.call(server, "held", {}, { id: "a" });
    await world.call(server, "held", {}, { id: "b" });
    await world.quiet();
    const response = await cancel(world, server, "thread_1", "a");
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(runs.map(({ ctx }) => ctx.signal.aborted)).toEqual([true, false]);
    expect(runs[0]!.ctx.signal.reason).toMatchObject({ name: "AbortError", why: "cancelled" });
    runs[0]!.end("half of it");
    expect(await world.next("tool_result")).toMatchObject({ id: "a", text: "half of it" });
  });

  it("[RAPS-51] ends a call whose tool ignores its signal with an error", async () => {
    const world = new RapWorld();
    const { tool, runs } = held();
    const server = world.server({ tools: [tool] });
    await world.call(server, "held");
    await world.quiet();
    await cancel(world, server, "thread_1", "call_1");
    await world.advance(5000);
    expect(world.messages()).toMatchObject([{ id: "call_1", text: "Error: The call was cancelled." }]);
    runs[0]!.end("too late");
    await world.quiet();
    expect(world.posts).toHaveLength(1);
  });

  it("[RAPS-51] of a call leads to one attempt to deliver its result", async () => {
    const world = new RapWorld();
    const { tool, runs } = held();
    const server = world.server({ tools: [tool] });
    world.answer = () => 503;
    await world.call(server, "held");
    await world.quiet();
    await cancel(world, server, "thread_1", "call_1");
    runs[0]!.end("x");
    await world.advance(60_000);
    expect(world.posts).toHaveLength(1);
  });

  it("[RAPS-50] [RAPS-52] gets an empty 200 if it comes early, late, twice, or for an unknown call", async () => {
    const world = new RapWorld();
    const { tool, runs } = held();
    const server = world.server({ tools: [tool] });
    const told = async (thread: string, call: string): Promise<void> => {
      const response = await cancel(world, server, thread, call);
      expect([response.status, await response.text()]).toEqual([200, ""]);
    };
    await told("thread_1", "call_1");
    await world.call(server, "held");
    await world.quiet();
    await told("thread_2", "call_1");
    await told("thread_1", "call_2");
    expect(runs[0]!.ctx.signal.aborted).toBe(false);
    await told("thread_1", "call_1");
    await told("thread_1", "call_1");
    runs[0]!.end("done");
    await world.next("tool_result");
    await told("thread_1", "call_1");
    await world.quiet();
    expect(world.posts).toHaveLength(1);
    expect(world.logs).toEqual([]);
  });

  it("[RAPS-56] with hostile or invalid ids gets an empty 200 and has no effect", async () => {
    const world = new RapWorld();
    const { tool, runs } = held();
    const server = world.server({ tools: [tool] });
    await world.call(server, "held");
    await world.quiet();
    for (const hostile of HOSTILE) {
      for (const response of [
        await cancel(world, server, hostile, "call_1"),
        await cancel(world, server, "thread_1", hostile),
      ])
        expect([response.status, await response.text()]).toEqual([200, ""]);
    }
    for (const body of ["", "{", "[]", "null", '{"thread_id":"thread_1"}', "x".repeat(100_000)])
      expect((await world.post(server, "/cancel_tool_call", body)).status).toBe(200);
    expect(
      (await world.post(server, "/cancel_tool_call", "{}", { "Content-Type": "text/plain" })).status,
    ).toBe(200);
    expect(runs[0]!.ctx.signal.aborted).toBe(false);
    expect(world.logs).toEqual([]);
  });

  it("[RAPS-54] [RAPS-57] needs credentials, and reaches only calls of the same tenant", async () => {
    const world = new RapWorld();
    const { tool, runs } = held();
    const server = world.server({
      tools: [tool],
      auth: bearer({ blue: "blue-token", green: "green-token" }),
    });
    await world.call(server, "held", {}, { headers: { Authorization: "Bearer blue-token" } });
    await world.quiet();
    const body = { thread_id: "thread_1", tool_call_id: "call_1" };
    const told = async (headers: Record<string, string>): Promise<[number, string, boolean]> => {
      const response = await world.post(server, "/cancel_tool_call", body, headers);
      return [response.status, await response.text(), runs[0]!.ctx.signal.aborted];
    };
    expect(await told({})).toEqual([401, "", false]);
    expect(await told({ Authorization: "Bearer green-token" })).toEqual([200, "", false]);
    expect(await told({ Authorization: "Bearer blue-token" })).toEqual([200, "", true]);
  });

  it("[RAPS-55] is limited in its rate", async () => {
    const world = new RapWorld();
    const { tool } = held();
    const server = world.server({ tools: [tool], limits: { cancellations: { perSecond: 1, burst: 3 } } });
    const statuses: number[] = [];
    for (let times = 0; times < 4; times++) statuses.push((await cancel(world, server, "t", "c")).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await world.post(server, "/close_thread", { thread_id: "t" })).status).toBe(200);
    await world.advance(1000);
    expect((await cancel(world, server, "t", "c")).status).toBe(200);
  });
});

it("[RAPS-53] a call that is not cancelled ends by its time limit", async () => {
  const world = new RapWorld();
  const { tool: slow, runs } = held();
  const patient = { ...held().tool, name: "patient", timeoutMs: 60_000 };
  const server = world.server({ tools: [slow, patient], limits: { callMs: 10_000 } });
  await world.call(server, "held", {}, { id: "a" });
  await world.call(server, "patient", {}, { id: "b" });
  await world.advance(9999);
  expect(runs[0]!.ctx.signal.aborted).toBe(false);
  await world.advance(1);
  expect(runs[0]!.ctx.signal.reason).toMatchObject({ why: "timedOut" });
  await world.advance(5000);
  expect(world.texts()).toEqual(["Error: The tool did not finish in its time, and was stopped."]);
  await world.advance(50_000);
  expect(world.messages().map(({ id }) => id)).toEqual(["a", "b"]);
});
