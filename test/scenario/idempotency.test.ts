// A client that did not hear the answer asks again by the same name.
import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import type { WireClient } from "../support/wire-client.ts";

const text = (words: string): object => ({ type: "text", text: words });
const named = (threadId: string, clientUserMessageId: string, words = "Hello") => ({
  threadId,
  input: [text(words)],
  clientUserMessageId,
});

/** Names of the user's messages in a thread, in order. */
async function names(client: WireClient, threadId: string): Promise<(string | null)[]> {
  const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
  const items = thread.turns.flatMap(({ items }: { items: { type: string }[] }) => items);
  return items
    .filter(({ type }: { type: string }) => type === "userMessage")
    .map(({ clientId }: { clientId: string | null }) => clientId);
}

it("[SAME-1] [SAME-4] accepts a turn's input once, while it runs and afterwards", async () => {
  const { client } = await stdioHost();
  const threadId = await client.startThread();
  const params = named(threadId, "m-1", "slowly, please");
  const first = await client.call("turn/start", params);
  expect(await client.call("turn/start", params)).toEqual(first);
  // Taken is taken, whichever way it comes again.
  const steer = { ...params, expectedTurnId: first.turn.id };
  expect(await client.call("turn/steer", steer)).toEqual({ turnId: first.turn.id });
  await client.call("turn/interrupt", { threadId, turnId: first.turn.id });
  await client.turnCompleted(first.turn.id);
  expect(await client.call("turn/start", params)).toEqual(first);
  const other = await client.call("turn/start", named(threadId, "m-2"));
  await client.turnCompleted(other.turn.id);
  expect(other.turn.id).not.toBe(first.turn.id);
  expect(await names(client, threadId)).toEqual(["m-1", "m-2"]);
  expect(client.count("turn/started")).toBe(2);
});

it("[SAME-1] accepts a steer once, also when its turn has ended", async () => {
  const { client } = await stdioHost();
  const threadId = await client.startThread();
  const turnId = await client.speaking(threadId);
  const steer = { ...named(threadId, "s-1"), expectedTurnId: turnId };
  expect(await client.call("turn/steer", steer)).toEqual({ turnId });
  expect(await client.call("turn/steer", steer)).toEqual({ turnId });
  await client.turnCompleted(turnId);
  expect(await client.call("turn/steer", steer)).toEqual({ turnId });
  expect((await client.call("turn/start", named(threadId, "s-1"))).turn.id).toBe(turnId);
  expect(await names(client, threadId)).toEqual([null, "s-1"]);
});

it("[SAME-1] recognizes input without a message by its client id", async () => {
  const { client } = await stdioHost();
  const threadId = await client.startThread();
  const params = { threadId, input: [], clientUserMessageId: "nothing" };
  const first = await client.call("turn/start", params);
  await client.turnCompleted(first.turn.id);
  expect(await client.call("turn/start", params)).toEqual(first);
  expect(client.count("turn/started")).toBe(1);
});

it("[SAME-2] forgets what was refused", async () => {
  const { client } = await stdioHost();
  const threadId = await client.startThread();
  const params = named(threadId, "again");
  const steer = { ...params, expectedTurnId: "none" };
  expect((await client.refusal("turn/steer", steer)).data.code).toBe("noActiveTurnToSteer");
  const { turn } = await client.call("turn/start", params);
  await client.turnCompleted(turn.id);
  expect(await names(client, threadId)).toEqual(["again"]);
  const long = await client.refusal("turn/start", named(threadId, "x".repeat(1025)));
  expect(long).toMatchObject({ code: -32602, data: { code: "invalidParams" } });
});

it("[SAME-3] recognizes a client id after a wake, a restart and a kill", async () => {
  const home = await freshFolder();
  const args = ["-c", "max_resident_threads=1"];
  let { host, client } = await stdioHost({ home, args });
  const threadId = await client.startThread();
  const params = named(threadId, "m-1");
  const first = await client.call("turn/start", params);
  await client.turnCompleted(first.turn.id);
  // Another thread takes its place in memory.
  await client.turn(await client.startThread(), "Hello");
  expect(await client.call("turn/start", params)).toEqual(first);
  for (const end of ["SIGTERM", "SIGKILL"] as const) {
    host.signal(end);
    await host.exited;
    ({ host, client } = await stdioHost({ home, args }));
    await client.call("thread/resume", { threadId });
    expect(await client.call("turn/start", params)).toEqual(first);
    expect(await client.call("turn/steer", { ...params, expectedTurnId: "any" })).toEqual({
      turnId: first.turn.id,
    });
  }
  expect(await names(client, threadId)).toEqual(["m-1"]);
});

it("[SAME-1] keeps the client ids of a fork separate", async () => {
  const { client } = await stdioHost();
  const threadId = await client.startThread();
  const first = await client.call("turn/start", named(threadId, "m-1"));
  await client.turnCompleted(first.turn.id);
  const { thread } = await client.call("thread/fork", { threadId });
  const second = await client.call("turn/start", named(thread.id, "m-1"));
  await client.turnCompleted(second.turn.id);
  expect(second.turn.id).not.toBe(first.turn.id);
});

const EXPERIMENTAL = { experimentalApi: true };
const KEYED = { idempotencyKey: "k-1" };

it("[SAME-5] starts a thread once, however often and however fast it is asked for", async () => {
  const { client } = await stdioHost({ capabilities: EXPERIMENTAL });
  const asked = [1, 2, 3].map(() => client.call("thread/start", { ...KEYED, serviceName: "mine" }));
  const [first, second, third] = await Promise.all(asked);
  expect(second).toEqual(first);
  expect(third).toEqual(first);
  const threadId: string = first.thread.id;
  await client.turn(threadId, "Hello");
  expect((await client.call("thread/start", KEYED)).thread).toMatchObject({ id: threadId, preview: "Hello" });
  const other = await client.startThread({ idempotencyKey: "k-2" });
  expect((await client.call("thread/loaded/list")).data).toEqual([threadId, other]);
  expect(client.count("thread/started")).toBe(2);
});

it("[SAME-5] returns a thread that was unloaded, loaded and subscribed", async () => {
  const { client } = await stdioHost({ capabilities: EXPERIMENTAL });
  const threadId = await client.startThread(KEYED);
  expect(await client.call("thread/unload", { threadId })).toEqual({ status: "unloaded" });
  expect(await client.startThread(KEYED)).toBe(threadId);
  await client.turn(threadId, "Hello");
});

it("[SAME-5] forgets the key of an ephemeral thread with the thread", async () => {
  const { client } = await stdioHost({ capabilities: EXPERIMENTAL });
  const params = { ...KEYED, ephemeral: true };
  const threadId = await client.startThread(params);
  expect(await client.startThread(params)).toBe(threadId);
  await client.call("thread/unload", { threadId });
  expect(await client.startThread(params)).not.toBe(threadId);
});

it("[SAME-5] remembers no key of a start that was refused, and needs the capability", async () => {
  const { client } = await stdioHost({ capabilities: EXPERIMENTAL });
  const bad = { ...KEYED, modelProvider: "nobody" };
  expect((await client.refusal("thread/start", bad)).data.code).toBe("unknownModelProvider");
  await client.startThread(KEYED);
  const plain = await stdioHost();
  const refusal = await plain.client.refusal("thread/start", KEYED);
  expect(refusal.data.code).toBe("experimentalRequired");
});

it("[SAME-6] knows a key after a restart and a kill, and until its thread is deleted", async () => {
  const home = await freshFolder();
  let { host, client } = await stdioHost({ home, capabilities: EXPERIMENTAL });
  const threadId = await client.startThread(KEYED);
  for (const end of ["SIGKILL", "SIGTERM", "SIGKILL"] as const) {
    host.signal(end);
    await host.exited;
    ({ host, client } = await stdioHost({ home, capabilities: EXPERIMENTAL }));
    expect(await client.startThread(KEYED)).toBe(threadId);
  }
  await client.call("thread/archive", { threadId });
  const { data, message } = await client.refusal("thread/start", KEYED);
  expect([data.code, message.includes(threadId)]).toEqual(["archived", true]);
  await client.call("thread/delete", { threadId });
  expect(await client.startThread(KEYED)).not.toBe(threadId);
});

it("[SAME-6] leaves a key to the host that has its thread, while that host lives", async () => {
  const home = await freshFolder();
  const first = await stdioHost({ home, capabilities: EXPERIMENTAL });
  const threadId = await first.client.startThread(KEYED);
  const host = await spawnHost({ home, args: ["--stdio"] });
  const second = host.stdio();
  await second.initialize(EXPERIMENTAL);
  for (const used of [false, true]) {
    if (used) await first.client.turn(threadId, "Hello");
    const { data } = await second.refusal("thread/start", KEYED);
    expect(data).toMatchObject({ code: "heldElsewhere", retryable: true });
  }
  await first.host.kill();
  expect(await second.startThread(KEYED)).toBe(threadId);
});
