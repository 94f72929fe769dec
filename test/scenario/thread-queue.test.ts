import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import type { WireClient } from "../support/wire-client.ts";

const capabilities = { experimentalApi: true };
const input = (text: string): object[] => [{ type: "text", text, text_elements: [] }];

async function add(client: WireClient, threadId: string, text: string, name = `name of ${text}`) {
  const params = { threadId, input: input(text), clientUserMessageId: name };
  const { queuedSubmission } = await client.call("thread/queue/add", params);
  expect(queuedSubmission).toEqual({
    id: expect.any(String),
    clientUserMessageId: name,
    input: params.input,
  });
  return queuedSubmission as { id: string };
}

async function queued(client: WireClient, threadId: string): Promise<unknown[]> {
  const { data, nextCursor } = await client.call("thread/queue/list", { threadId });
  expect(nextCursor).toBeNull();
  return data;
}

/** The user's messages, in the order in which their turns began. */
function said(client: WireClient): string[] {
  return client
    .told("item/completed")
    .map(({ params }) => params.item)
    .filter(({ type }) => type === "userMessage")
    .map(({ content }) => content[0].text);
}

it("[QUEUE-1] keeps ids and order, notifies of changes, and pages", async () => {
  const { client } = await stdioHost({ capabilities });
  const threadId = await client.startThread();
  await client.speaking(threadId);
  const first = await add(client, threadId, "first");
  const second = await add(client, threadId, "second");
  expect(await queued(client, threadId)).toEqual([first, second]);

  const change = { threadId, queuedSubmissionId: first.id, input: input("first edited") };
  const edited = { ...first, input: change.input };
  expect(await client.call("thread/queue/update", change)).toEqual({ queuedSubmission: edited });
  const order = { threadId, queuedSubmissionIds: [second.id, first.id] };
  expect(await client.call("thread/queue/reorder", order)).toEqual({});
  expect(await queued(client, threadId)).toEqual([second, edited]);

  const page = await client.call("thread/queue/list", { threadId, limit: 1 });
  expect(page).toEqual({ data: [second], nextCursor: "1" });
  const rest = await client.call("thread/queue/list", { threadId, limit: 1, cursor: page.nextCursor });
  expect(rest).toEqual({ data: [edited], nextCursor: null });

  const gone = { threadId, queuedSubmissionId: second.id };
  expect(await client.call("thread/queue/delete", gone)).toEqual({ deleted: true });
  expect(await client.call("thread/queue/delete", gone)).toEqual({ deleted: false });
  const told = client.told("thread/queue/changed").map(({ params }) => params);
  expect(told).toEqual(Array(5).fill({ threadId }));
});

it("[QUEUE-2] starts the next submission when a turn ends, and not before", async () => {
  const { client } = await stdioHost({ capabilities });
  const threadId = await client.startThread();
  const turnId = await client.speaking(threadId, "slowly, please");
  await add(client, threadId, "one", "one-1");
  await add(client, threadId, "two", "two-2");
  const busy = await client.refusal("thread/queue/start", { threadId });
  expect(busy.message).toBe("thread already has an active or pending turn");
  // More input of the running turn goes before, whatever it is called.
  await client.call("turn/start", { threadId, input: input("slowly more"), clientUserMessageId: "one-1" });
  expect(await queued(client, threadId)).toHaveLength(2);
  await client.turnCompleted(turnId);
  await client.until(() => client.count("turn/completed") === 3, "three turns");
  expect(said(client)).toEqual(["slowly, please", "slowly more", "one", "two"]);
  const names = client.told("item/started").map(({ params }) => params.item.clientId);
  expect(names.filter((name) => name !== undefined)).toEqual([null, "one-1", "one-1", "two-2"]);
  expect(await queued(client, threadId)).toEqual([]);
  expect(client.count("thread/queue/changed")).toBe(4);
});

it("[QUEUE-3] waits after an interrupt, over resumes and restarts, until one is started", async () => {
  const home = await freshFolder();
  let { host, client } = await stdioHost({ home, capabilities });
  const threadId = await client.startThread();
  const turnId = await client.speaking(threadId);
  const first = await add(client, threadId, "first");
  const second = await add(client, threadId, "second");
  await client.call("turn/interrupt", { threadId, turnId });
  await client.turnCompleted(turnId);
  const third = await add(client, threadId, "third");
  await client.call("thread/resume", { threadId });
  expect(await queued(client, threadId)).toEqual([first, second, third]);
  host.signal("SIGTERM");
  await host.exited;

  ({ host, client } = await stdioHost({ home, capabilities }));
  expect((await client.refusal("thread/queue/start", { threadId })).message).toBe(
    "resume the thread before starting a queued message",
  );
  await client.call("thread/resume", { threadId });
  const fourth = await add(client, threadId, "fourth");
  expect(await queued(client, threadId)).toEqual([first, second, third, fourth]);
  const { turn } = await client.call("thread/queue/start", { threadId, queuedSubmissionId: second.id });
  expect(turn).toMatchObject({ status: "inProgress", items: [] });
  await client.until(() => client.count("turn/completed") === 4, "four turns");
  expect(client.told("turn/started")[0]!.params.turn.id).toBe(turn.id);
  expect(said(client)).toEqual(["second", "first", "third", "fourth"]);
});

it("[QUEUE-4] starts at once in an idle thread, and after a resume in one that was not loaded", async () => {
  const { client } = await stdioHost({ capabilities });
  const threadId = await client.startThread();
  await add(client, threadId, "at once");
  await client.until(() => client.count("turn/completed") === 1, "its turn");
  await client.call("thread/unload", { threadId });
  await add(client, threadId, "later");
  expect(await queued(client, threadId)).toHaveLength(1);
  const from = client.frames.length;
  await client.call("thread/resume", { threadId });
  await client.until(() => client.count("turn/completed") === 2, "its turn");
  const story = client.frames.slice(from).map(({ method }) => method ?? "reply");
  expect(story.indexOf("reply")).toBeLessThan(story.indexOf("turn/started"));
  expect(said(client)).toEqual(["at once", "later"]);
});

it("[QUEUE-5] has limits, and refuses invalid requests", async () => {
  const { client } = await stdioHost({ capabilities });
  const threadId = await client.startThread();
  await client.speaking(threadId);
  const params = { threadId, input: input("x"), clientUserMessageId: "x" };
  const words = async (method: string, more: object) =>
    (await client.refusal(`thread/queue/${method}`, { ...params, ...more })).message;
  expect(await words("start", { queuedSubmissionId: "none" })).toBe(
    "thread already has an active or pending turn",
  );
  const big = input("x".repeat(1_000_000));
  for (let at = 0; at < 16; at++) await client.call("thread/queue/add", { ...params, input: big });
  expect(await words("add", { input: big })).toBe("queue cannot contain more than 16777216 characters");
  for (let at = 16; at < 100; at++) await client.call("thread/queue/add", params);
  expect(await words("add", {})).toBe("queue cannot contain more than 100 submissions");
  expect(await words("add", { input: [] })).toBe("only user input can be added to the user-message queue");
  expect(await words("add", { input: input("x".repeat(1_048_577)) })).toMatch(/^Input exceeds/);
  expect(await words("update", { queuedSubmissionId: "none" })).toBe("queued submission not found: none");
  expect(await words("reorder", { queuedSubmissionIds: [] })).toBe(
    "queue reorder must include every queued submission exactly once",
  );
  expect(await words("list", { cursor: "x" })).toBe("invalid cursor: x");
  const nobody = "01a1e180-fc69-7611-8fba-560f7627e4d3";
  expect(await words("list", { threadId: nobody })).toBe(`thread not found: ${nobody}`);
  const ephemeral = await client.startThread({ ephemeral: true });
  expect(await words("add", { threadId: ephemeral })).toBe(
    `ephemeral thread does not support queued submissions: ${ephemeral}`,
  );
  const other = await client.startThread();
  expect(await words("start", { threadId: other })).toBe("queue is empty");
  expect(await words("start", { threadId: other, queuedSubmissionId: "none" })).toBe(
    "queued submission not found: none",
  );
  await client.turn(other, "hello");
  await client.call("thread/archive", { threadId: other });
  expect(await words("add", { threadId: other })).toMatch(/is archived/);
});

it("[QUEUE-6] goes on when all clients have left", async () => {
  const home = await freshFolder();
  const host = await spawnHost({
    home,
    args: ["--listen", "ws://127.0.0.1:0", "-c", "thread_unload_delay_secs=0"],
  });
  const client = await host.join(undefined, capabilities);
  const threadId = await client.startThread();
  const watcher = await host.join();
  // The offline model's first answer in a thread is longer than its others.
  await client.turn(threadId, "hello");
  await client.speaking(threadId, `slowly ${"and on ".repeat(15)}`);
  await add(client, threadId, "one");
  await add(client, threadId, "two");
  await client.cut();
  await watcher.about(threadId, "thread/closed");
  const { thread } = await watcher.call("thread/read", { threadId, includeTurns: true });
  expect(thread.turns.map(({ status }: { status: string }) => status)).toEqual(Array(4).fill("completed"));
});

it("[QUEUE-7] keeps the client's metadata over changes that bring none and over a restart", async () => {
  const home = await freshFolder();
  const { host, client } = await stdioHost({ capabilities, home });
  const threadId = await client.startThread();
  await client.turn(threadId, "first");
  await client.speaking(threadId);
  const params = { threadId, input: input("later"), clientUserMessageId: "c" };
  const { queuedSubmission } = await client.call("thread/queue/add", {
    ...params,
    responsesapiClientMetadata: { a: "1" },
  });
  expect(queuedSubmission.responsesapiClientMetadata).toEqual({ a: "1" });
  const update = async (more: object) => {
    const change = { threadId, queuedSubmissionId: queuedSubmission.id, input: input("edited"), ...more };
    return (await client.call("thread/queue/update", change)).queuedSubmission.responsesapiClientMetadata;
  };
  expect(await update({})).toEqual({ a: "1" });
  expect(await update({ responsesapiClientMetadata: {} })).toEqual({ a: "1" });
  expect(await update({ responsesapiClientMetadata: { b: "2" } })).toEqual({ b: "2" });
  await host.kill();
  const { client: next } = await stdioHost({ capabilities, home });
  const [stored] = await queued(next, threadId);
  expect(stored).toMatchObject({ input: input("edited"), responsesapiClientMetadata: { b: "2" } });
});
