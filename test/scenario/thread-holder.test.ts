// Several hosts on one home: commands use the one that has the thread loaded.
import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { runBobbin } from "../support/run-bobbin.ts";

const LISTEN = ["--listen", "ws://127.0.0.1:0"];

it("[TERM-10] commands change and resume a thread on whichever host has it loaded", async () => {
  const home = await freshFolder("home");
  const bobbin = (args: readonly string[], input = "") =>
    runBobbin(args, { env: { BOBBIN_HOME: home }, input });
  const hosts = [await spawnHost({ home, args: LISTEN }), await spawnHost({ home, args: LISTEN })];
  const held = await Promise.all(
    hosts.map(async (host) => {
      const client = await host.join(undefined, { experimentalApi: true });
      const threadId = await client.startThread();
      await client.turn(threadId, "Hello!");
      return { client, threadId };
    }),
  );
  for (const { client, threadId } of held) {
    const renamed = await bobbin(["threads", "rename", threadId, "Mine"]);
    expect(renamed).toEqual({ code: 0, stdout: `Renamed ${threadId} to "Mine".\n`, stderr: "" });
    await client.about(threadId, "thread/name/updated");
    const asked = await bobbin(["exec", "--resume", threadId, "From exec"]);
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining("From exec") });
    const talked = await bobbin(["chat", "--resume", threadId], "From chat\n");
    expect(talked).toMatchObject({ code: 0, stdout: expect.stringContaining("From chat") });
    // The client that follows the thread has seen these turns, so they ran on its host.
    await client.until(() => client.told("turn/completed").length === 3, "three turns have ended");
    await client.call("thread/unsubscribe", { threadId });
    const unloaded = await bobbin(["threads", "unload", threadId]);
    expect(unloaded).toEqual({ code: 0, stdout: `Unloaded ${threadId}.\n`, stderr: "" });
  }
});
