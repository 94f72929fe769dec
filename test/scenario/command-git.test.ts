// Git in the sandbox, on the real program with a local model.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asked, type CommandStage, commandStage, WRITES_THERE_ONLY } from "../support/command-stage.ts";
import { eventually } from "../support/eventually.ts";
import { outputOf, run, say } from "../support/model-replies.ts";
import { hasSandbox } from "../support/sandbox-here.ts";

const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync("git", args, { cwd, encoding: "utf8" });

/** A thread whose folder is a repository. */
async function stage(): Promise<CommandStage> {
  const staged = await commandStage([], WRITES_THERE_ONLY);
  git(staged.cwd, "init", "-q", "-b", "main");
  git(staged.cwd, "config", "user.name", "t");
  git(staged.cwd, "config", "user.email", "t@example.org");
  await writeFile(join(staged.cwd, "a.txt"), "one\n");
  git(staged.cwd, "add", ".");
  git(staged.cwd, "commit", "-qm", "first");
  return staged;
}

describe.runIf(hasSandbox)("git in the sandbox", () => {
  it("[SANDBOX-5] adds, commits, stashes, switches, merges and makes worktrees, without a question", async () => {
    const { model, client, threadId, cwd } = await stage();
    const commands = [
      "echo two > b.txt",
      "git add b.txt && git commit -m second",
      "echo more >> a.txt",
      "git stash",
      "git stash pop",
      "git commit -am third",
      "git switch -c feature",
      "git commit --allow-empty -m 'on the feature'",
      "git switch main && git merge --no-ff -m merged feature",
      "git worktree add tree feature",
    ];
    model.reply(...commands.map((cmd, nth) => run({ cmd }, `call_${nth}`)), say("done"));
    await client.turn(threadId, "go");
    for (const [nth, cmd] of commands.entries())
      expect(outputOf(model, nth + 1), cmd).toContain("exited with code 0");
    const log = git(cwd, "log", "--format=%s", "main").trim().split("\n");
    expect(log.sort()).toEqual(["first", "merged", "on the feature", "second", "third"]);
    expect(git(join(cwd, "tree"), "branch", "--show-current")).toBe("feature\n");
    expect(git(cwd, "status", "--short")).toBe("?? tree/\n");
  });

  it("[SANDBOX-9] needs approval to change settings of the repository", async () => {
    const { model, client, threadId, cwd } = await stage();
    const cmd = "git remote add fork ../fork";
    model.reply(run({ cmd }), run({ cmd }, "call_2"), say("done"));
    const turnId = await client.say(threadId, "go");
    const first = await asked(client);
    expect(first.params.reason).toBe("It changes settings of the repository that the sandbox protects");
    client.send({ id: first.id, result: { decision: "decline" } });
    client.send({ id: (await asked(client, { nth: 2 })).id, result: { decision: "accept" } });
    await client.turnCompleted(turnId);
    expect(outputOf(model, 1)).toContain("the user declined it");
    expect(outputOf(model, 2)).toContain("exited with code 0");
    expect(git(cwd, "remote")).toBe("fork\n");
  });

  it("[SANDBOX-9] makes a branch of a remote one without an upstream, says so, and asks to set it", async () => {
    const { model, client, threadId, cwd } = await stage();
    git(cwd, "branch", "feature");
    git(cwd, "clone", "-q", "--bare", cwd, join(cwd, "upstream"));
    git(cwd, "branch", "-D", "feature");
    git(cwd, "remote", "add", "origin", join(cwd, "upstream"));
    git(cwd, "fetch", "-q", "origin");
    const config = await readFile(join(cwd, ".git", "config"), "utf8");
    model.reply(
      run({ cmd: "git switch feature" }),
      run({ cmd: "git switch main && git switch feature" }, "call_2"),
      run({ cmd: "git branch -u origin/feature" }, "call_3"),
      run({ cmd: "git switch --track -c other origin/feature" }, "call_4"),
      say("done"),
    );
    const turnId = await client.say(threadId, "go");
    const first = await asked(client);
    expect(first.params.command).toContain("git branch -u");
    expect(await readFile(join(cwd, ".git", "config"), "utf8")).toBe(config);
    client.send({ id: first.id, result: { decision: "accept" } });
    const second = await asked(client, { nth: 2 });
    expect(second.params.command).toContain("git switch --track");
    client.send({ id: second.id, result: { decision: "accept" } });
    await client.turnCompleted(turnId);
    expect(outputOf(model, 1)).toMatch(/exited with code 0[\s\S]*Switched to a new branch 'feature'/);
    expect(outputOf(model, 1)).toContain("The branch feature has no upstream, because the sandbox protects");
    expect(outputOf(model, 1)).not.toMatch(/error:|set up to track/);
    expect(outputOf(model, 4)).toMatch(/set up to track/);
    expect(git(cwd, "rev-parse", "--abbrev-ref", "feature@{upstream}", "other@{upstream}")).toBe(
      "origin/feature\norigin/feature\n",
    );
  });

  it("[SANDBOX-7] leaves nothing in the repository when its thread is unloaded while it runs", async () => {
    const { model, client, threadId, cwd } = await stage();
    await writeFile(join(cwd, ".git", "hooks", "pre-commit"), "#!/bin/sh\nsleep 1000\n", { mode: 0o755 });
    model.reply(run({ cmd: "git commit --allow-empty -m never", yield_time_ms: 250 }), say("it runs"));
    await client.turn(threadId, "go");
    const place = join(cwd, ".git", "commondir");
    expect(existsSync(place)).toBe(true);
    await client.call("thread/unload", { threadId });
    expect(existsSync(place)).toBe(false);

    await client.call("thread/resume", { threadId });
    model.reply(run({ cmd: "git commit --allow-empty -m never" }, "call_2"));
    await client.say(threadId, "again");
    await eventually(() => existsSync(place), "it runs");
    await client.call("thread/unload", { threadId, interrupt: true });
    expect(existsSync(place)).toBe(false);
  });
});
