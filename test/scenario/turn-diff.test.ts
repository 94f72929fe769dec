// What clients are sent about the files that a turn changes, on the real program with real files.
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CommandStage, commandStage } from "../support/command-stage.ts";
import { filesBelow } from "../support/folder.ts";
import type { Reply } from "../support/mock-model.ts";
import { callTool, patchFiles, run, say } from "../support/model-replies.ts";
import type { WireClient } from "../support/wire-client.ts";

const command = (callId: string, cmd: string): Reply => run({ cmd }, callId);

async function stage(replies: readonly Reply[], sandbox = "workspace-write"): Promise<CommandStage> {
  const all = await commandStage(replies, [`sandbox_mode = "${sandbox}"`, 'approval_policy = "never"']);
  await writeFile(join(all.cwd, "a.txt"), "one\ntwo\nthree\n");
  return all;
}

/** The items of patches, the diffs and the end of a turn, in their order. */
function story(client: WireClient, from: number): string[] {
  return client.frames.slice(from).flatMap(({ method, params }) => {
    if (method === "turn/diff/updated") return [params.diff];
    if (method === "turn/completed") return [`turn ${params.turn.status}`];
    return params?.item?.type === "fileChange" ? [`${method} ${params.item.status}`] : [];
  });
}

const FIRST = [
  "diff --git a/a.txt b/a.txt",
  "index 4cb29ea38f70d7c61b2a3a25b02e3bdf44905402..ddc897f039f57aa91e16efa6dfde386c4255206f 100644",
  "--- a/a.txt",
  "+++ b/a.txt",
  "@@ -1,3 +1,3 @@",
  " one",
  "-two",
  "+TWO",
  " three",
  "diff --git a/new.txt b/new.txt",
  "new file mode 100644",
  "index 0000000000000000000000000000000000000000..94954abda49de8615a048f8d2e64b5de848e27a1",
  "--- /dev/null",
  "+++ b/new.txt",
  "@@ -0,0 +1,2 @@",
  "+hello",
  "+world",
  "",
].join("\n");

describe("a turn that patches files", () => {
  it("[DIFF-1] shows what it has changed so far after each patch, and before it ends", async () => {
    const { client, threadId } = await stage([
      patchFiles(
        "call_1",
        "*** Update File: a.txt",
        "@@",
        " one",
        "-two",
        "+TWO",
        " three",
        "*** Add File: new.txt",
        "+hello",
        "+world",
      ),
      patchFiles("call_2", "*** Update File: a.txt", "@@", "-TWO", "+two", "*** Delete File: new.txt"),
      patchFiles("call_3", "*** Update File: a.txt", "*** Move to: b.txt", "@@", " two", "-three", "+3"),
      say("done"),
    ]);
    const from = client.frames.length;
    await client.turn(threadId, "change it");
    const told = story(client, from);
    expect(told.slice(0, 6)).toEqual([
      "item/started inProgress",
      "item/completed completed",
      FIRST,
      "item/started inProgress",
      "item/completed completed",
      // All is as it was.
      "",
    ]);
    expect(told.slice(6, 8)).toEqual(["item/started inProgress", "item/completed completed"]);
    expect(told[8]).toContain("rename from a.txt\nrename to b.txt\n");
    expect(told[8]).toContain("\n two\n-three\n+3\n");
    expect(told.slice(9)).toEqual(["turn completed"]);
  });

  it("[DIFF-1] is separate for each turn, and not sent by turns that change nothing", async () => {
    const { client, threadId } = await stage([
      patchFiles("call_1", "*** Add File: x.txt", "+1"),
      say("done"),
      say("hello"),
      patchFiles("call_2", "*** Update File: x.txt", "@@", "-1", "+2"),
      say("done"),
    ]);
    await client.turn(threadId, "change it");
    const from = client.frames.length;
    await client.turn(threadId, "say hello");
    expect(story(client, from)).toEqual(["turn completed"]);
    await client.turn(threadId, "change it again");
    expect(client.told("turn/diff/updated").at(-1)!.params.diff).toContain("@@ -1 +1 @@\n-1\n+2\n");
  });

  it("[DIFF-1] shows it in ephemeral threads, too", async () => {
    const { client, cwd } = await stage([
      patchFiles("call_1", "*** Update File: a.txt", "@@", "-two", "+TWO"),
      say("done"),
    ]);
    await client.turn(await client.startThread({ cwd, ephemeral: true }), "change it");
    expect(client.told("turn/diff/updated").at(-1)!.params.diff).toContain("\n-two\n+TWO\n");
  });

  it("[DIFF-2] is sent to clients that were away, with the rest of what they missed", async () => {
    const { host, client, threadId } = await stage([
      say("hello"),
      patchFiles("call_1", "*** Add File: x.txt", "+1"),
      say("done"),
    ]);
    const other = await host.join(undefined, { experimentalApi: true, eventCursor: true });
    await other.call("thread/resume", { threadId });
    await client.turn(threadId, "say hello");
    const { params } = await other.waitFor(
      ({ method }) => method === "turn/completed",
      "the first turn's end",
    );
    await other.close();
    await client.turn(threadId, "change it");
    const again = await host.join(undefined, { experimentalApi: true, eventCursor: true });
    await again.call("thread/resume", { threadId, excludeTurns: true, afterCursor: params.cursor });
    await again.waitFor(({ method }) => method === "turn/completed", "the second turn's end");
    const [diff] = again.told("turn/diff/updated");
    expect(diff!.params.diff).toContain("+++ b/x.txt\n@@ -0,0 +1 @@\n+1\n");
  });
});

describe("a turn that runs commands in a repository", () => {
  /** Without a sandbox, so that it runs on every machine. */
  async function repository(...replies: readonly Reply[]) {
    const all = await stage(replies, "danger-full-access");
    const git = (...args: readonly string[]): string =>
      execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e@example.org", ...args], {
        cwd: all.cwd,
        encoding: "utf8",
      });
    git("init", "-q");
    git("add", "-A");
    git("commit", "-qm", "first");
    return { ...all, git };
  }

  /** The items of calls, the diffs and the end of a turn, in their order. */
  const calls = (client: WireClient, from: number): string[] =>
    client.frames.slice(from).flatMap(({ method, params }) => {
      if (method === "turn/diff/updated")
        return [`diff ${params.diff.match(/^[-+](?![-+]).*$/gm)?.join(" ")}`];
      if (method === "turn/completed") return [`turn ${params.turn.status}`];
      const type = params?.item?.type;
      return type === "fileChange" || type === "commandExecution" ? [`${method} ${type}`] : [];
    });

  it("[DIFF-3] shows what they changed, together with patches, before it ends", async () => {
    const { client, threadId, git } = await repository(
      command("call_1", "printf 'one\\nTWO\\nthree\\n' > a.txt; echo new > new.txt"),
      command(
        "call_2",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: by-patch.txt\n+x\n*** End Patch\nEOF\n",
      ),
      command("call_3", "git commit -qam second; rm new.txt"),
      say("done"),
    );
    const from = client.frames.length;
    await client.turn(threadId, "change it");
    expect(calls(client, from)).toEqual([
      "item/started commandExecution",
      "item/completed commandExecution",
      "diff -two +TWO +new",
      "item/started fileChange",
      "item/completed fileChange",
      "diff -two +TWO +x +new",
      "item/started commandExecution",
      "item/completed commandExecution",
      "diff -two +TWO +x",
      "turn completed",
    ]);
    expect(git("status", "--porcelain")).toContain("by-patch.txt");
    expect(git("for-each-ref", "--format=%(refname)").trim().split("\n")).toHaveLength(1);
  });

  it("[DIFF-3] shows what a command wrote that looks like a read, and clients show it as unknown", async () => {
    const { client, threadId, cwd } = await repository(
      command("call_1", "cat a.txt | sort -o sorted.txt"),
      say("done"),
    );
    const turnId = await client.turn(threadId, "sort it");
    const shown = client.told("item/completed").find(({ params }) => params.item.id === "call_1")!;
    expect(shown.params.item.commandActions).toMatchObject([{ type: "unknown" }]);
    expect(client.told("turn/diff/updated").at(-1)!.params.diff).toContain("\n+one\n+three\n+two\n");
    expect(await client.call("thread/files/restore", { threadId, beforeTurnId: turnId })).toMatchObject({
      removed: [join(cwd, "sorted.txt")],
    });
  });

  it("[DIFF-3] shows what input to a shell of an earlier turn changed, and can be undone", async () => {
    const { model, client, threadId, cwd } = await repository(
      run({ cmd: "sh", tty: true, yield_time_ms: 250 }),
      say("left running"),
    );
    await client.turn(threadId, "open a shell");
    const { data } = await client.call("thread/backgroundTerminals/list", { threadId });
    const session = Number(data[0].processId);
    model.reply(
      callTool(
        "write_stdin",
        { session_id: session, chars: "echo typed > typed.txt; exit\n", yield_time_ms: 30_000 },
        "call_2",
      ),
      say("done"),
    );
    const turnId = await client.turn(threadId, "type it");
    const [diff, ...more] = client.told("turn/diff/updated");
    expect([diff?.params.turnId, more]).toEqual([turnId, []]);
    expect(diff!.params.diff).toContain("+++ b/typed.txt\n@@ -0,0 +1 @@\n+typed\n");
    expect(await client.call("thread/files/restore", { threadId, beforeTurnId: turnId })).toEqual({
      restored: [],
      removed: [join(cwd, "typed.txt")],
      failed: [],
    });
  });

  it("[DIFF-6] that is interrupted shows what its command changed until then", async () => {
    const { client, threadId, cwd } = await repository(
      command("call_1", "echo changed > a.txt; echo ready; sleep 1000"),
    );
    const turnId = await client.say(threadId, "change it");
    await client.waitFor(
      ({ method, params }) => method === "item/commandExecution/outputDelta" && /ready/.test(params.delta),
      "the command's output",
    );
    await client.call("turn/interrupt", { threadId, turnId });
    const { params } = await client.waitFor(({ method }) => method === "turn/diff/updated", "the diff");
    expect(params).toMatchObject({ threadId, turnId });
    expect(params.diff).toContain("+changed\n");
    expect(client.told("turn/completed").map(({ params: { turn } }) => turn.status)).toEqual(["interrupted"]);
    expect(await client.call("thread/files/restore", { threadId, beforeTurnId: turnId })).toMatchObject({
      restored: [join(cwd, "a.txt")],
    });
  });

  it("[UNDO-1] can be undone, commits and ignored files left as they are", async () => {
    const { client, threadId, cwd, git } = await repository(
      command(
        "call_1",
        "echo changed > a.txt; echo x > ignored.log; mkdir d; echo y > d/new.txt; rm gone.txt",
      ),
      say("done"),
    );
    await writeFile(join(cwd, ".gitignore"), "*.log\n");
    await writeFile(join(cwd, "gone.txt"), "not committed\n");
    const turnId = await client.turn(threadId, "change it");
    const head = git("rev-parse", "HEAD");
    expect(await client.call("thread/files/restore", { threadId, beforeTurnId: turnId })).toEqual({
      restored: [join(cwd, "a.txt"), join(cwd, "gone.txt")],
      removed: [join(cwd, "d/new.txt")],
      failed: [],
    });
    expect(git("status", "--porcelain").trim().split("\n")).toEqual(["?? .gitignore", "?? gone.txt"]);
    expect(git("rev-parse", "HEAD")).toBe(head);
  });

  it("[DIFF-3] stores nothing for commands that only read, and nothing after the thread is deleted", async () => {
    const { client, threadId, home } = await repository(
      command("call_1", "cat a.txt"),
      say("done"),
      command("call_2", "echo x > x.txt"),
      say("done"),
    );
    const saved = async (): Promise<string[]> =>
      (await filesBelow(home)).filter((path) => /\/(git-|before-)/.test(path));
    await client.turn(threadId, "read it");
    expect(client.told("turn/diff/updated")).toEqual([]);
    expect(await saved()).toEqual([]);
    await client.turn(threadId, "write it");
    expect(await saved()).not.toEqual([]);
    // What was saved goes with the thread.
    await client.call("thread/delete", { threadId });
    expect(await saved()).toEqual([]);
  });
});
