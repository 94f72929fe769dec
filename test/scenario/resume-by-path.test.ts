// Threads that are named by their file, or that come with a history of their own.
import { join } from "node:path";
import { expect, it } from "vitest";
import { mockHost } from "../support/mock-host.ts";
import { responses, stream } from "../support/mock-model.ts";

const NOBODY = "01a1e0d3-0000-7000-8000-000000000000";
const say = stream(responses.stream(responses.message("ok")));
const HISTORY = [
  { type: "message", role: "user", content: [{ type: "input_text", text: "from before" }] },
  { type: "message", role: "assistant", content: [{ type: "output_text", text: "an answer" }] },
];

async function stage() {
  const { model, client, threadId } = await mockHost([say]);
  await client.turn(threadId, "hi");
  const { thread } = await client.call("thread/read", { threadId });
  const unload = () => client.call("thread/unload", { threadId });
  return { model, client, threadId, path: thread.path as string, unload };
}

it("[PATH-1] resumes and forks the thread of a returned path, whatever id is sent with it", async () => {
  const { client, threadId, path, unload } = await stage();
  const resumed = async (params: object) => {
    return (await client.call("thread/resume", { excludeTurns: true, ...params })).thread.id;
  };
  for (const id of [threadId, NOBODY, "no id"]) expect(await resumed({ threadId: id, path })).toBe(threadId);
  expect(await resumed({ threadId, path: "" })).toBe(threadId);
  await unload();
  expect(await resumed({ threadId: NOBODY, path })).toBe(threadId);
  const { thread } = await client.call("thread/fork", { threadId: "no id", path });
  expect([thread.forkedFromId, thread.turns.length]).toEqual([threadId, 1]);
});

it("[PATH-1] refuses a path that is not the thread's, in the peer's words", async () => {
  const { client, threadId, path, unload } = await stage();
  const other = join(path, "..", `rollout-2026-01-01T00-00-00-${NOBODY}.jsonl`);
  expect(await client.refusal("thread/resume", { threadId, path: other })).toMatchObject({
    code: -32600,
    message: `cannot resume running thread ${threadId} with stale path: requested \`${other}\`, active \`${path}\``,
    data: { code: "stalePath" },
  });
  await unload();
  for (const wrong of [other, "/nope", join(path, "..", "x", `rollout-${threadId}.jsonl`)])
    for (const method of ["thread/resume", "thread/fork"])
      expect(await client.refusal(method, { threadId, path: wrong })).toMatchObject({
        code: -32600,
        message: expect.stringContaining(`failed to resolve rollout path \`${wrong}\``),
        data: { code: "pathNotFound" },
      });
});

it("[PATH-2] starts a thread with a given history, and refuses it for loaded threads", async () => {
  const { model, client, threadId } = await stage();
  expect(await client.refusal("thread/resume", { threadId, history: HISTORY })).toMatchObject({
    code: -32600,
    message: `cannot resume thread ${threadId} with history while it is already running`,
  });
  expect((await client.refusal("thread/resume", { threadId: NOBODY, history: [] })).message).toBe(
    "history must not be empty",
  );
  const odd = await client.refusal("thread/resume", { threadId: NOBODY, history: [{ type: "message" }] });
  expect(odd.data.code).toBe("invalidResponseItem");

  const from = client.frames.length;
  const { thread } = await client.call("thread/resume", { threadId: NOBODY, history: HISTORY });
  expect([threadId, NOBODY]).not.toContain(thread.id);
  await client.about(thread.id, "thread/status/changed", from);
  await client.turn(thread.id, "go on");
  const texts = model.asked.at(-1)!.body.input.map(({ content }: (typeof HISTORY)[0]) => content?.[0]?.text);
  expect(texts.slice(-3)).toEqual(["from before", "an answer", "go on"]);
  expect(client.told("thread/started").map(({ params }) => params.thread.id)).not.toContain(thread.id);
});
