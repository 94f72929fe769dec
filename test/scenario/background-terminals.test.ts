// Background terminals of threads that are unused, hibernated or parked, on the real program with real processes.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CommandStage, commandStage, hostOf } from "../support/command-stage.ts";
import { eventually } from "../support/eventually.ts";
import { callTool, outputOf, run, say } from "../support/model-replies.ts";
import { sleepers } from "../support/processes.ts";
import type { WireClient } from "../support/wire-client.ts";

const FULL = ['sandbox_mode = "danger-full-access"', 'approval_policy = "on-request"'];
const ENDED = { id: "call_1", status: "failed", exitCode: -1 };

let marks = 0;
/** Seconds that no other process sleeps. */
const mark = (): string => `${8_000_000 + process.pid}.${++marks}`;

/** The command items that a client was sent as completed. */
const completed = (client: WireClient) =>
  client
    .told("item/completed")
    .map(({ params }) => params)
    .filter(({ item }) => item.type === "commandExecution");

async function isResident(client: WireClient, threadId: string): Promise<boolean> {
  const { threads } = await client.call("server/diagnostics", {});
  return threads.find((thread: { threadId: string }) => thread.threadId === threadId).resident;
}

/** The item of the first command, as the history has it. */
async function firstCommand(client: WireClient, threadId: string) {
  const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
  return thread.turns[0].items.find(({ id }: { id: string }) => id === "call_1");
}

/** A thread that hibernates with a background terminal, and the ID of the turn that started the terminal. */
async function hibernated(cmd: string): Promise<CommandStage & { readonly turnId: string }> {
  const stage = await commandStage(
    [run({ cmd, yield_time_ms: 250 }), say("left running"), say("hello")],
    [...FULL, "max_resident_threads = 1"],
  );
  const { client, threadId, cwd } = stage;
  const turnId = await client.turn(threadId, "run it");
  expect(await isResident(client, threadId)).toBe(true);
  await client.turn(await client.startThread({ cwd }), "hello");
  await eventually(async () => !(await isResident(client, threadId)), "the thread hibernates");
  return { ...stage, turnId };
}

describe("a background terminal of a thread that nobody uses", () => {
  it("[EXEC-8] does not keep the thread loaded, and ends when the thread is unloaded", async () => {
    const one = mark();
    const { client, host, threadId } = await commandStage(
      [run({ cmd: `sleep ${one}`, yield_time_ms: 250 }), say("left running")],
      [...FULL, "thread_unload_delay_secs = 0"],
    );
    const witness = await host.join(undefined, { experimentalApi: true });
    await client.turn(threadId, "run it");
    expect(sleepers(one)).toHaveLength(1);
    await client.call("thread/unsubscribe", { threadId });
    await witness.about(threadId, "thread/closed");
    expect(sleepers(one)).toEqual([]);
    expect(await firstCommand(witness, threadId)).toMatchObject(ENDED);
  });
});

describe("a background terminal of a hibernated thread", () => {
  it("[EXEC-8] completes its item when it ends, and the model is notified", async () => {
    const { client, model, threadId, cwd, turnId } = await hibernated(
      "until [ -e go ]; do sleep 0.05; done; echo over; exit 3",
    );
    await writeFile(join(cwd, "go"), "");
    await eventually(() => completed(client).length === 1, "its item completes");
    const item = { id: "call_1", status: "failed", exitCode: 3, aggregatedOutput: "over\n" };
    expect(completed(client)).toMatchObject([{ turnId, item }]);
    expect(await firstCommand(client, threadId)).toMatchObject(item);
    model.reply(say("I see"));
    await client.turn(threadId, "and now?");
    expect(JSON.stringify(model.asked.at(-1)!.body.input)).toMatch(/session ID \d+ ended with exit code 3/);
  });

  it("[EXEC-7] is listed and terminated", async () => {
    const one = mark();
    const { client, threadId, turnId } = await hibernated(`sleep ${one}`);
    const { data } = await client.call("thread/backgroundTerminals/list", { threadId });
    expect(data).toMatchObject([{ itemId: "call_1", command: `sleep ${one}`, osPid: expect.any(Number) }]);
    const { processId } = data[0];
    expect(await client.call("thread/backgroundTerminals/terminate", { threadId, processId })).toEqual({
      terminated: true,
    });
    await eventually(() => completed(client).length === 1, "its item completes");
    expect(completed(client)).toMatchObject([{ turnId, item: ENDED }]);
    expect(sleepers(one)).toEqual([]);
  });
});

describe("a background terminal of a thread that waits for an answer", () => {
  it("[EXEC-8] [EXEC-9] ends when its host ends; the next host completes the item, and the model is notified", async () => {
    const [one, two] = [mark(), mark()];
    const question = {
      questions: [{ id: "q", header: "H", question: "Go on?", options: [{ label: "Yes", description: "" }] }],
    };
    const { client, host, home, model, threadId } = await commandStage(
      [
        run({ cmd: `setsid sleep ${two} >/dev/null 2>&1 & sleep ${one}`, yield_time_ms: 250 }),
        callTool("request_user_input", question, "call_2"),
      ],
      FULL,
    );
    const turnId = await client.say(threadId, "run it");
    const isQuestion = ({ method }: { method?: string }) => method === "item/tool/requestUserInput";
    const { id } = await client.waitFor(isQuestion, "the question");
    expect([...sleepers(one), ...sleepers(two)]).toHaveLength(2);
    host.signal("SIGTERM");
    expect(await host.exited).toEqual({ code: 0, signal: null });
    expect([...sleepers(one), ...sleepers(two)]).toEqual([]);
    // Parked, not closed: the question is still open.
    expect(client.told("thread/closed")).toEqual([]);
    expect(client.told("serverRequest/resolved")).toEqual([]);

    const next = await hostOf(home);
    await eventually(
      async () => (await next.client.call("thread/loaded/list")).data.includes(threadId),
      "the next host adopts the thread",
    );
    await next.client.call("thread/resume", { threadId });
    expect(await firstCommand(next.client, threadId)).toMatchObject(ENDED);
    expect((await next.client.call("thread/backgroundTerminals/list", { threadId })).data).toEqual([]);
    expect((await next.client.waitFor(isQuestion, "the question again")).id).toBe(id);
    model.reply(say("I see"));
    next.client.send({ id, result: { answers: { q: { answers: ["Yes"] } } } });
    await next.client.turnCompleted(turnId);
    expect(outputOf(model, 2)).toContain("Yes");
    expect(JSON.stringify(model.asked[2]!.body.input)).toMatch(/session ID \d+ was terminated because/);
  });
});
