// Undoing what turns changed in files, on the real program with real files.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CommandStage, commandStage, hostOf } from "../support/command-stage.ts";
import { filesBelow } from "../support/folder.ts";
import { type Reply, silent } from "../support/mock-model.ts";
import { patchFiles, say } from "../support/model-replies.ts";

const FIRST = patchFiles(
  "call_1",
  "*** Update File: a.txt",
  "@@",
  "-one",
  "+1",
  "*** Add File: new.txt",
  "+x",
);
const SECOND = patchFiles("call_2", "*** Update File: a.txt", "@@", "-two", "+2", "*** Delete File: b.txt");

async function stage(...replies: readonly Reply[]): Promise<CommandStage> {
  const all = await commandStage(replies);
  await writeFile(join(all.cwd, "a.txt"), "one\ntwo\n");
  await writeFile(join(all.cwd, "b.txt"), "b\n");
  return all;
}

const text = (cwd: string, path: string): Promise<string> => readFile(join(cwd, path), "utf8");

describe("files that turns have changed", () => {
  it("[UNDO-1] are restored to before either of them, also by the next host", async () => {
    const { home, client, threadId, cwd } = await stage(FIRST, say("done"), SECOND, say("done"));
    const first = await client.turn(threadId, "change it");
    const second = await client.turn(threadId, "change it again");
    expect(await client.call("thread/files/restore", { threadId, beforeTurnId: second })).toEqual({
      restored: [join(cwd, "a.txt"), join(cwd, "b.txt")],
      removed: [],
      failed: [],
    });
    expect(await text(cwd, "a.txt")).toBe("1\ntwo\n");
    expect(await text(cwd, "b.txt")).toBe("b\n");
    await client.call("thread/unload", { threadId });
    const { client: other } = await hostOf(home);
    await other.call("thread/resume", { threadId });
    expect(await other.call("thread/files/restore", { threadId, beforeTurnId: first, force: true })).toEqual({
      restored: [join(cwd, "a.txt")],
      removed: [join(cwd, "new.txt")],
      failed: [],
    });
    expect(await text(cwd, "a.txt")).toBe("one\ntwo\n");
    expect(await filesBelow(cwd)).toEqual(["a.txt", "b.txt"]);
  });

  it("[UNDO-4] are named by a dry run, which changes nothing", async () => {
    const { client, threadId, cwd } = await stage(FIRST, say("done"), SECOND, say("done"));
    const beforeTurnId = await client.turn(threadId, "change it");
    await client.turn(threadId, "change it again");
    await writeFile(join(cwd, "a.txt"), "by me\n");
    const dryRun = (more: object) =>
      client.call("thread/files/restore", { threadId, beforeTurnId, dryRun: true, ...more });
    const others = { restored: [join(cwd, "b.txt")], removed: [join(cwd, "new.txt")] };
    expect(await dryRun({})).toEqual({
      ...others,
      failed: [{ path: join(cwd, "a.txt"), reason: "it was changed since", canForce: true }],
    });
    const forced = { ...others, restored: [join(cwd, "a.txt"), join(cwd, "b.txt")], failed: [] };
    expect(await dryRun({ force: true })).toEqual(forced);
    expect(await filesBelow(cwd)).toEqual(["a.txt", "new.txt"]);
    expect(await text(cwd, "a.txt")).toBe("by me\n");
    expect(await client.call("thread/files/restore", { threadId, beforeTurnId, force: true })).toEqual(
      forced,
    );
  });

  it("[UNDO-5] are restored by thread/revert if it is asked to", async () => {
    const { client, threadId, cwd } = await stage(FIRST, say("done"), say("hello"));
    const turnId = await client.turn(threadId, "change it");
    const plain = await client.turn(threadId, "say hello");
    expect(await client.call("thread/revert", { threadId, beforeTurnId: plain })).not.toHaveProperty("files");
    expect(await text(cwd, "a.txt")).toBe("1\ntwo\n");
    const { files, thread } = await client.call("thread/revert", {
      threadId,
      beforeTurnId: turnId,
      restoreFiles: true,
    });
    expect(files).toEqual({ restored: [join(cwd, "a.txt")], removed: [join(cwd, "new.txt")], failed: [] });
    expect(thread.id).toBe(threadId);
    expect(await text(cwd, "a.txt")).toBe("one\ntwo\n");
  });

  it("[UNDO-5] are left alone while a turn runs, and where there is no such turn", async () => {
    const { client, threadId, cwd } = await stage(FIRST, say("done"), silent(""));
    const turnId = await client.turn(threadId, "change it");
    const missing = await client.request("thread/files/restore", { threadId, beforeTurnId: "nothing" });
    expect(missing.error?.data.code).toBe("turnNotFound");
    await client.say(threadId, "go on");
    const refused = await client.request("thread/files/restore", { threadId, beforeTurnId: turnId });
    expect(refused.error?.data.code).toBe("turnInProgress");
    expect(await text(cwd, "a.txt")).toBe("1\ntwo\n");
  });
});
