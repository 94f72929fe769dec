import { expect, it } from "vitest";
import { spawnHost } from "../support/host-process.ts";

const COMPLETED = /^bobbin_turns_total\{status="completed",service=""\} (\d+)$/m;

it("[METRICS-1] counts turns of stored and of ephemeral threads, and not those that a fork copies", async () => {
  const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
  const client = await host.join();
  const site = await host.site();
  const counted = async (): Promise<number> => {
    const metrics = await (await fetch(`${site}/metrics`)).text();
    return Number(COMPLETED.exec(metrics)?.[1] ?? 0);
  };
  await client.turn(await client.startThread({ ephemeral: true }), "hello");
  expect(await counted()).toBe(1);
  const threadId = await client.startThread();
  await client.turn(threadId, "hello");
  expect(await counted()).toBe(2);
  const { thread } = await client.call("thread/fork", { threadId });
  expect(thread.turns).toHaveLength(1);
  expect(await counted()).toBe(2);
});
