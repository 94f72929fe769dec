import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { filesBelow, freshFolder } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
import { mockHost } from "../support/mock-host.ts";
import { type MockModel, responses, stream } from "../support/mock-model.ts";
import type { WireClient } from "../support/wire-client.ts";

const answer = stream(responses.stream(responses.message("I see.")));
const gif = (words: string): Buffer => Buffer.from(`GIF89a ${words}`);
const urlOf = (words: string): string => `data:image/gif;base64,${gif(words).toString("base64")}`;

/** The pictures that the model was given last. */
function seen(model: MockModel): string[] {
  const { input } = model.asked.at(-1)!.body;
  return input
    .flatMap(({ content }: { content?: { type: string; image_url?: string }[] }) => content ?? [])
    .filter(({ type }: { type: string }) => type === "input_image")
    .map(({ image_url }: { image_url: string }) => image_url);
}

async function show(client: WireClient, threadId: string, path: string, more: object = {}): Promise<void> {
  const input = [{ type: "localImage", path }];
  const { turn } = await client.call("turn/start", { threadId, input, ...more });
  await client.turnCompleted(turn.id);
}

it("[FILE-1] [FILE-2] stores an image as it was shown, through changes, restarts and the archive", async () => {
  const { model, host, client, threadId, home } = await mockHost([answer]);
  const work = await freshFolder("work");
  await mkdir(join(work, "sub"));
  const path = join(work, "picture.gif");
  await writeFile(path, gif("first"));
  await show(client, threadId, path);
  expect(seen(model)).toEqual([urlOf("first")]);
  // What clients are told is what they said.
  const shown = client.told("item/completed")[0]!.params.item.content;
  expect(shown).toEqual([{ type: "localImage", path, detail: null }]);

  await writeFile(path, gif("second"));
  await show(client, threadId, "../picture.gif", { cwd: join(work, "sub") });
  expect(seen(model)).toEqual([urlOf("first"), urlOf("second")]);
  await rm(work, { recursive: true });
  await client.turn(threadId, "and now?");
  expect(seen(model)).toEqual([urlOf("first"), urlOf("second")]);

  host.signal("SIGKILL");
  await host.exited;
  const next = (await stdioHost({ home, capabilities: { experimentalApi: true } })).client;
  await next.call("thread/archive", { threadId });
  const archived = await readdir(join(home, "archived_sessions"));
  expect(archived.filter((name) => name.endsWith(".blobs"))).toHaveLength(1);
  await next.call("thread/unarchive", { threadId });
  await next.call("thread/resume", { threadId });
  await next.turn(threadId, "and now?");
  expect(seen(model)).toEqual([urlOf("first"), urlOf("second")]);

  await next.call("thread/delete", { threadId });
  expect((await filesBelow(home)).filter((name) => name.includes("blobs"))).toEqual([]);
});

it("[FILE-2] goes into a fork, which outlives its origin", async () => {
  const { model, client, threadId } = await mockHost([answer]);
  const path = join(await freshFolder("work"), "picture.gif");
  await writeFile(path, gif("shared"));
  await show(client, threadId, path);
  const { thread } = await client.call("thread/fork", { threadId });
  await rm(path);
  await client.call("thread/delete", { threadId });
  await client.turn(thread.id, "what was it?");
  expect(seen(model)).toEqual([urlOf("shared")]);
});

it("[FILE-1] stores the images of a steer, and one copy of an image that is shown twice", async () => {
  const { model, client, threadId, home } = await mockHost([answer]);
  const path = join(await freshFolder("work"), "picture.gif");
  await writeFile(path, gif("twice"));
  model.reply((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": wait\n\n");
  });
  const { turn } = await client.call("turn/start", { threadId, input: [{ type: "localImage", path }] });
  await client.until(() => client.count("turn/started") === 1, "a turn");
  model.reply(answer);
  const input = [{ type: "localImage", path }];
  await client.call("turn/steer", { threadId, expectedTurnId: turn.id, input });
  await client.turnCompleted(turn.id);
  await rm(path);
  await client.turn(threadId, "again");
  expect(seen(model)).toEqual([urlOf("twice"), urlOf("twice")]);
  expect((await filesBelow(home)).filter((name) => name.includes(".blobs"))).toHaveLength(1);
});

it("[FILE-3] reads the images of queued input when its turn starts, and says which cannot be shown", async () => {
  const { model, client, threadId } = await mockHost([answer]);
  const path = join(await freshFolder("work"), "picture.gif");
  await writeFile(path, gif("early"));
  const input = [{ type: "localImage", path }];
  await client.call("thread/queue/add", { threadId, input, clientUserMessageId: "q" });
  await client.until(() => client.count("turn/completed") === 1, "its turn");
  await writeFile(path, "no picture");
  await show(client, threadId, path);
  expect(seen(model)).toEqual([urlOf("early")]);
  const texts = JSON.stringify(model.asked.at(-1)!.body.input);
  expect(texts).toContain("could not be read: it is no PNG");
  const ephemeral = await client.startThread({ ephemeral: true });
  await writeFile(path, gif("short-lived"));
  await show(client, ephemeral, path);
  expect(seen(model)).toEqual([urlOf("short-lived")]);
});
