import { stat } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { stdioHost } from "../support/host-process.ts";
import { mockHost } from "../support/mock-host.ts";
import { say } from "../support/rap-stage.ts";

describe("a thread on a model that is not known", () => {
  it("[SHAPE-1] reports usage with the window that is assumed", async () => {
    const { client, threadId } = await mockHost([say("Hello.")]);
    await client.turn(threadId, "Hi");
    const [usage] = client.told("thread/tokenUsage/updated");
    expect(usage!.params.tokenUsage.modelContextWindow).toBe(258_400);
  });

  it("[SHAPE-2] warns of it once per turn, before the reply", async () => {
    const { client, threadId } = await mockHost([say("Hello."), say("Again.")]);
    for (const words of ["Hi", "Hi again"]) {
      const from = client.frames.length;
      await client.turn(threadId, words);
      const order = client.frames.slice(from).map(({ method }) => method ?? "reply");
      expect(order.slice(0, 2)).toEqual(["warning", "reply"]);
      expect(order.filter((word) => word === "warning")).toHaveLength(1);
    }
  });
});

describe("a short sandbox policy in turn/start", () => {
  it("[SHAPE-3] is completed with defaults, and changes nothing if it equals the current one", async () => {
    const { client, threadId: other } = await mockHost([say("one"), say("two"), say("three")]);
    await client.call("thread/unsubscribe", { threadId: other });
    const { thread } = await client.call("thread/start", { sandbox: "workspace-write" });
    const turn = async (sandboxPolicy: object) => {
      const from = client.frames.length;
      const input = [{ type: "text", text: "Hi", text_elements: [] }];
      const { turn } = await client.call("turn/start", { threadId: thread.id, input, sandboxPolicy });
      await client.turnCompleted(turn.id);
      return client.frames.slice(from).filter(({ method }) => method === "thread/settings/updated");
    };
    expect(await turn({ type: "workspaceWrite" })).toEqual([]);
    const [changed] = await turn({ type: "readOnly" });
    expect(changed!.params.threadSettings.sandboxPolicy).toEqual({ type: "readOnly", networkAccess: false });
    expect(await turn({ networkAccess: false, type: "readOnly" })).toEqual([]);
  });
});

describe("loading a thread", () => {
  it("[SHAPE-4] and unloading it leave the times of the thread and its file as they were", async () => {
    const { host, client, threadId, home } = await mockHost([say("Hello.")]);
    await client.turn(threadId, "Hi");
    const { thread } = await client.call("thread/read", { threadId });
    await client.call("thread/unload", { threadId });
    const { mtimeMs } = await stat(thread.path);
    await host.kill();
    const next = await stdioHost({ home });
    const { thread: resumed } = await next.client.call("thread/resume", { threadId });
    expect(resumed.updatedAt).toBe(thread.updatedAt);
    expect((await stat(thread.path)).mtimeMs).toBe(mtimeMs);
    expect(await next.client.call("thread/unload", { threadId })).toEqual({ status: "unloaded" });
    expect((await stat(thread.path)).mtimeMs).toBe(mtimeMs);
    await next.client.call("thread/resume", { threadId });
    await next.client.call("thread/name/set", { threadId, name: "Named" });
    expect((await stat(thread.path)).mtimeMs).toBeGreaterThan(mtimeMs);
  });
});
