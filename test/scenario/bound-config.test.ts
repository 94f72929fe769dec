// The configuration that a loaded thread keeps, on the real program with a local model.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { spawnHost } from "../support/host-process.ts";
import { MockModel } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";

it("[LAYER-4] a loaded thread keeps its configuration until it is unloaded, whatever other threads load", async () => {
  const model = await MockModel.start(...Array.from({ length: 5 }, () => say("done")));
  const { home, cwd } = await modelHome("responses", model.url, { top: ['web_search = "live"'] });
  const file = join(home, "config.toml");
  const before = await readFile(file, "utf8");
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
  const client = await host.join(undefined, { experimentalApi: true });
  /** Whether the model is offered a web search, and goals, in a turn of the thread. */
  const offered = async (threadId: string): Promise<readonly boolean[]> => {
    await client.turn(threadId, "Hello!");
    const tools = JSON.stringify(model.asked.at(-1)!.body.tools);
    return ['"web_search"', '"create_goal"'].map((name) => tools.includes(name));
  };
  const threadId = await client.startThread({ cwd });
  expect(await offered(threadId)).toEqual([true, true]);
  await writeFile(file, `features.goals = false\n${before.replace('"live"', '"disabled"')}`);
  const other = await client.startThread({ cwd });
  expect(await offered(other)).toEqual([false, false]);
  expect(await offered(threadId)).toEqual([true, true]);
  await client.call("thread/unload", { threadId });
  await client.call("thread/resume", { threadId });
  expect(await offered(threadId)).toEqual([false, false]);
});
