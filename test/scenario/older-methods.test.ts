// Methods that older clients use, and those of a sandbox that only Windows has.
import { execFileSync } from "node:child_process";
import { appendFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { eventuallyPasses } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
import type { WireClient } from "../support/wire-client.ts";

let home: string;
let client: WireClient;

beforeAll(async () => {
  home = await freshFolder();
  ({ client } = await stdioHost({ home }));
});

describe("getConversationSummary", () => {
  it("[OLDER-1] describes a thread by its id and by its path", async () => {
    const threadId = await client.startThread();
    await client.turn(threadId, "Hello there");
    const { thread } = await client.call("thread/read", { threadId });
    const { summary } = await client.call("getConversationSummary", { conversationId: threadId });
    expect(summary).toMatchObject({
      conversationId: threadId,
      path: thread.path,
      preview: "Hello there",
      modelProvider: "offline",
      cwd: thread.cwd,
      source: thread.source,
    });
    expect(Date.parse(summary.timestamp) / 1000).toBeCloseTo(thread.createdAt, -1);
    expect(await client.call("getConversationSummary", { rolloutPath: thread.path })).toEqual({ summary });
  });

  it.each([
    ["invalidParams", {}],
    ["noRollout", { conversationId: "01a1e11e-8538-703d-834a-e6eb57dc6a9a" }],
    ["invalidThreadId", { conversationId: "nope" }],
    ["pathNotFound", { rolloutPath: "/nope" }],
  ])("[OLDER-1] refuses parameters that name no thread: %s", async (code, params) => {
    const { error } = await client.request("getConversationSummary", params);
    expect(error?.data.code).toBe(code);
  });
});

describe("gitDiffToRemote", () => {
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.org", ...args], {
      cwd,
      encoding: "utf8",
    }).trim();

  it("[OLDER-2] shows commits, changes and new files that no remote has", async () => {
    const folder = await freshFolder();
    const remote = await freshFolder();
    git(remote, "init", "-q", "--bare");
    git(folder, "init", "-q", "-b", "main");
    await writeFile(join(folder, "a.txt"), "one\n");
    git(folder, "add", ".");
    git(folder, "commit", "-qm", "first");
    git(folder, "remote", "add", "origin", remote);
    git(folder, "push", "-q", "origin", "main");
    const pushed = git(folder, "rev-parse", "HEAD");
    expect(await client.call("gitDiffToRemote", { cwd: folder })).toEqual({ sha: pushed, diff: "" });

    await appendFile(join(folder, "a.txt"), "two\n");
    git(folder, "commit", "-qam", "second");
    git(folder, "pack-refs", "--all");
    await appendFile(join(folder, "a.txt"), "three\n");
    await writeFile(join(folder, "new.txt"), "new\n");
    await writeFile(join(folder, ".gitignore"), "ignored.txt\n");
    await writeFile(join(folder, "ignored.txt"), "no\n");
    const status = git(folder, "status", "--porcelain");
    const { sha, diff } = await client.call("gitDiffToRemote", { cwd: folder });
    expect(sha).toBe(pushed);
    expect(diff).toContain("+two\n+three\n");
    expect(diff).toContain("new file mode 100644");
    expect(diff).not.toContain("ignored.txt b/");
    // The repository is as it was, and nothing is left in the home.
    expect(git(folder, "status", "--porcelain")).toBe(status);
    await eventuallyPasses(async () => expect(await readdir(join(home, "tmp"))).toEqual([]));
  });

  it("[OLDER-2] says why there is none", async () => {
    const plain = await freshFolder();
    const alone = await freshFolder();
    git(alone, "init", "-q");
    await writeFile(join(alone, "a.txt"), "one\n");
    git(alone, "add", ".");
    git(alone, "commit", "-qm", "first");
    for (const cwd of [plain, alone, "/nonexistent"]) {
      const { error } = await client.request("gitDiffToRemote", { cwd });
      expect(error).toMatchObject({ code: -32600, data: { code: "noRemoteDiff" } });
      expect(error?.message).toContain(`failed to compute git diff to remote for cwd: "${cwd}"`);
    }
  });
});

describe("the sandbox of Windows", () => {
  it.each([
    ["elevated", "elevated Windows sandbox setup is only supported on Windows"],
    ["unelevated", "legacy Windows sandbox setup is only supported on Windows"],
  ])("[OLDER-3] is not set up elsewhere: %s", async (mode, error) => {
    expect(await client.call("windowsSandbox/setupStart", { mode })).toEqual({ started: true });
    const { params } = await client.waitFor(
      (frame) => frame.method === "windowsSandbox/setupCompleted" && frame.params.mode === mode,
      "the end of the setup",
    );
    expect(params).toEqual({ mode, success: false, error });
    expect(await client.call("windowsSandbox/readiness", undefined)).toEqual({ status: "notConfigured" });
  });
});
