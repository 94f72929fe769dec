// apply_patch on the real program, with real files and a local model.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, lstat, mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asked, type CommandStage, commandStage, storyOf } from "../support/command-stage.ts";
import { filesBelow, freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { MockModel, type Reply, responses, stream } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { callTool, outputOf, patchOf, say } from "../support/model-replies.ts";
import { hasSandbox } from "../support/sandbox-here.ts";
import type { WireClient } from "../support/wire-client.ts";

const patchCall = (input: string, callId?: string): Reply => callTool("apply_patch", { input }, callId);

async function stage(
  replies: readonly Reply[],
  top: readonly string[] = ['sandbox_mode = "workspace-write"'],
): Promise<CommandStage> {
  const all = await commandStage(replies, top);
  await writeFile(join(all.cwd, "a.txt"), "one\ntwo\nthree\n");
  return all;
}

/** What became of a turn, in short: items of patches, questions and ends. */
const story = (client: WireClient, from: number): string[] =>
  storyOf(client.frames.slice(from), "fileChange");

const UPDATE = patchOf(
  "*** Update File: a.txt",
  "@@",
  " one",
  "-two",
  "+TWO",
  " three",
  "*** Add File: sub/new.txt",
  "+hello",
);

describe("a patch within what may be written", () => {
  it("[PATCH-1] is applied without approval, shown with its diffs, and reported to the model", async () => {
    const { model, client, threadId, cwd } = await stage([patchCall(UPDATE), say("done")]);
    await chmod(join(cwd, "a.txt"), 0o755);
    const from = client.frames.length;
    await client.turn(threadId, "change it");
    expect(story(client, from)).toEqual([
      "item/started inProgress",
      "item/completed completed",
      "turn completed",
    ]);
    const { item } = client
      .told("item/completed")
      .find(({ params }) => params.item.type === "fileChange")!.params;
    expect(item.changes).toEqual([
      {
        path: join(cwd, "a.txt"),
        kind: { type: "update", move_path: null },
        diff: "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n",
      },
      { path: join(cwd, "sub/new.txt"), kind: { type: "add" }, diff: "hello\n" },
    ]);
    expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("one\nTWO\nthree\n");
    expect((await stat(join(cwd, "a.txt"))).mode & 0o777).toBe(0o755);
    expect(await readFile(join(cwd, "sub/new.txt"), "utf8")).toBe("hello\n");
    expect(outputOf(model)).toContain("M ");
    // No draft is left.
    expect(await filesBelow(cwd)).toEqual(["a.txt", "sub/new.txt"]);
  });

  it("[EXEC-18] has its result in the form of the Codex CLI", async () => {
    const changes = patchOf(
      "*** Delete File: old.txt",
      "*** Update File: a.txt",
      "*** Move to: b.txt",
      "@@",
      "-two",
      "+TWO",
      "*** Add File: sub/new.txt",
      "+hello",
    );
    const wrong = patchOf("*** Update File: b.txt", "@@", "-four", "+FOUR");
    const { model, client, threadId, cwd } = await stage([
      patchCall(changes, "one"),
      patchCall(wrong, "two"),
      patchCall("*** Begin Patch\n", "three"),
      say("done"),
    ]);
    await writeFile(join(cwd, "old.txt"), "old\n");
    await client.turn(threadId, "change it");
    expect(outputOf(model, 1)).toMatch(
      /^Exit code: 0\nWall time: \d+\.\d seconds\nOutput:\nSuccess\. Updated the following files:\nA sub\/new\.txt\nM b\.txt\nD old\.txt\n$/,
    );
    expect(outputOf(model, 2)).toMatch(/^apply_patch verification failed: Hunk 1 of b\.txt/);
    expect(outputOf(model, 3)).toMatch(/^apply_patch verification failed: /);
  });

  it("[PATCH-1] comes as text from a model that was trained with it, and as a function call from any other", async () => {
    const { model, client, threadId, cwd } = await stage([
      stream(responses.stream(responses.customCall("apply_patch", UPDATE))),
      say("done"),
      say("nothing to do"),
    ]);
    await client.turn(await client.startThread({ cwd, model: "gpt-5.4" }), "change it");
    await client.turn(threadId, "and you?");
    const offered = model.asked.map(({ body }) =>
      body.tools.filter(({ name }: { name?: string }) => name === "apply_patch"),
    );
    expect(offered[0]).toMatchObject([{ type: "custom", format: { type: "grammar", syntax: "lark" } }]);
    expect(offered[2]).toMatchObject([
      { type: "function", parameters: { properties: { input: { type: "string" } } } },
    ]);
    expect(model.asked[1]!.body.input).toContainEqual(
      expect.objectContaining({ type: "custom_tool_call_output", call_id: "call_1" }),
    );
    expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("one\nTWO\nthree\n");
  });

  it("[PATCH-2] moves and deletes, and follows a link to the file that it names", async () => {
    const patch = patchOf(
      "*** Update File: link.txt",
      "@@",
      "-linked",
      "+LINKED",
      "*** Update File: a.txt",
      "*** Move to: b.txt",
      "@@",
      "-one",
      "+ONE",
      "*** Delete File: gone.txt",
    );
    const { client, threadId, cwd } = await stage([patchCall(patch), say("done")]);
    await writeFile(join(cwd, "target.txt"), "linked\n");
    await symlink("target.txt", join(cwd, "link.txt"));
    await writeFile(join(cwd, "gone.txt"), "x");
    await client.turn(threadId, "change it");
    expect(await readFile(join(cwd, "target.txt"), "utf8")).toBe("LINKED\n");
    expect(await readFile(join(cwd, "b.txt"), "utf8")).toBe("ONE\ntwo\nthree\n");
    expect(await filesBelow(cwd)).toEqual(["b.txt", "target.txt"]);
  });

  it("[PATCH-3] that does not match changes nothing, and the model gets the position", async () => {
    const patch = patchOf("*** Add File: half.txt", "+x", "*** Update File: a.txt", "@@", "-nope", "+TWO");
    const { model, client, threadId, cwd } = await stage([
      patchCall(patch),
      patchCall("rubbish", "call_2"),
      callTool("apply_patch", {}, "call_3"),
      patchCall(patchOf(`*** Add File: ${"x".repeat(300)}`, "+x"), "call_4"),
      patchCall(patchOf("*** Add File: a\0b", "+x"), "call_5"),
      say("done"),
    ]);
    const from = client.frames.length;
    await client.turn(threadId, "change it");
    expect(story(client, from)).toEqual(["turn completed"]);
    expect(outputOf(model, 1)).toContain('at line 1 it expects "nope", and there is "one"');
    expect(outputOf(model, 2)).toContain("The first line of a patch is");
    expect(outputOf(model, 3)).toContain('do not fit apply_patch: must have the property "input"');
    expect(outputOf(model, 4)).toContain("The patch cannot be applied: ENAMETOOLONG");
    expect(outputOf(model, 5)).toContain("must not contain the character NUL");
    expect(await filesBelow(cwd)).toEqual(["a.txt"]);
  });

  it("[PATCH-20] does not make a working folder again that was removed", async () => {
    const { model, client, threadId, cwd } = await stage([
      patchCall(patchOf("*** Add File: new.txt", "+x")),
      say("done"),
    ]);
    await rm(cwd, { recursive: true });
    await client.turn(threadId, "add it");
    expect(outputOf(model, 1)).toContain(`The working folder ${cwd} does not exist.`);
    await expect(stat(cwd)).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe.runIf(hasSandbox)("a patch of a thread with a profile of people's own", () => {
  it("[PATCH-17] changes files that the profile makes writable, and none that it hides", async () => {
    const data = await freshFolder("data");
    const add = (path: string, callId: string): Reply =>
      patchCall(patchOf(`*** Add File: ${path}`, "+x"), callId);
    const { model, client, threadId, cwd } = await stage(
      [
        add("plain.txt", "a"),
        add(join(data, "new.txt"), "b"),
        add("vendor/new.txt", "c"),
        patchCall(patchOf("*** Update File: secret.env", "@@", "-x", "+y"), "d"),
        say("done"),
      ],
      [
        'approval_policy = "never"',
        'default_permissions = "careful"',
        'permissions.careful.extends = ":workspace"',
        `permissions.careful.filesystem = { "${data}" = "write", ":workspace_roots" = { "vendor" = "read", "*.env" = "deny" } }`,
      ],
    );
    await mkdir(join(cwd, "vendor"));
    await writeFile(join(cwd, "secret.env"), "x\n");
    await client.turn(threadId, "change them");
    expect(outputOf(model, 1)).toContain("Success. Updated the following files:");
    expect(outputOf(model, 2)).toContain("Success. Updated the following files:");
    expect(outputOf(model, 3)).toContain("may not be written in this sandbox");
    expect(outputOf(model, 4)).toContain("There is no file");
    expect(await filesBelow(cwd)).toEqual(["a.txt", "plain.txt", "secret.env"]);
    expect(await filesBelow(data)).toEqual(["new.txt"]);
  });
});

describe("file modes and symlinks", () => {
  it("[PATCH-14] are kept when files are changed or moved", async () => {
    const patch = patchOf(
      "*** Update File: a.txt",
      "*** Move to: bin/run",
      "@@",
      "-one",
      "+ONE",
      "*** Update File: private.txt",
      "@@",
      "-secret",
      "+SECRET",
      "*** Update File: link.txt",
      "@@",
      "-linked",
      "+LINKED",
    );
    const { client, threadId, cwd } = await stage([patchCall(patch), say("done")]);
    await chmod(join(cwd, "a.txt"), 0o750);
    await writeFile(join(cwd, "private.txt"), "secret\n", { mode: 0o600 });
    await writeFile(join(cwd, "target.txt"), "linked\n");
    await chmod(join(cwd, "target.txt"), 0o640);
    const isRoot = process.getuid!() === 0;
    if (isRoot) await chown(join(cwd, "private.txt"), 1234, 1235);
    await symlink("target.txt", join(cwd, "link.txt"));
    await client.turn(threadId, "change it");
    const mode = async (path: string): Promise<number> => (await lstat(join(cwd, path))).mode & 0o777;
    expect(await readFile(join(cwd, "bin/run"), "utf8")).toBe("ONE\ntwo\nthree\n");
    expect(await mode("bin/run")).toBe(0o750);
    expect(await mode("private.txt")).toBe(0o600);
    const { uid, gid } = await lstat(join(cwd, "private.txt"));
    if (isRoot) expect([uid, gid]).toEqual([1234, 1235]);
    expect(await mode("target.txt")).toBe(0o640);
    expect(await readFile(join(cwd, "target.txt"), "utf8")).toBe("LINKED\n");
    expect((await lstat(join(cwd, "link.txt"))).isSymbolicLink()).toBe(true);
  });

  it("[PATCH-9] that change while the user is asked prevent the patch", async () => {
    const patch = patchOf("*** Update File: link.txt", "@@", "-one", "+ONE");
    const { model, client, threadId, cwd } = await stage(
      [patchCall(patch), say("done")],
      ['sandbox_mode = "workspace-write"', 'approval_policy = "untrusted"'],
    );
    const elsewhere = join(await freshFolder("elsewhere"), "a.txt");
    await writeFile(elsewhere, "one\ntwo\nthree\n");
    await symlink("a.txt", join(cwd, "link.txt"));
    const turnId = await client.say(threadId, "change it");
    const { id } = await asked(client);
    await rm(join(cwd, "link.txt"));
    await symlink(elsewhere, join(cwd, "link.txt"));
    client.send({ id, result: { decision: "accept" } });
    await client.turnCompleted(turnId);
    expect(outputOf(model)).toContain("a link leads elsewhere");
    for (const path of [elsewhere, join(cwd, "a.txt")])
      expect(await readFile(path, "utf8")).toBe("one\ntwo\nthree\n");
  });

  it("[PATCH-14] do not lose a change if a file has two names", async () => {
    const patch = patchOf(
      ...["*** Update File: a.txt", "@@", "-one", "+ONE"],
      ...["*** Update File: link.txt", "@@", "-two", "+TWO"],
    );
    const { model, client, threadId, cwd } = await stage([patchCall(patch), say("done")]);
    await symlink("a.txt", join(cwd, "link.txt"));
    await client.turn(threadId, "change it");
    expect(outputOf(model)).toContain("are the same file");
    expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
  });
});

describe("a patch beyond what may be written", () => {
  const outside = async (): Promise<{ patch: string; path: string }> => {
    const path = join(await freshFolder("outside"), "x.txt");
    return { path, patch: patchOf(`*** Add File: ${path}`, "+x") };
  };

  it("[PATCH-4] needs approval, and is applied when the user accepts", async () => {
    const { patch, path } = await outside();
    const { client, threadId } = await stage([patchCall(patch), say("done")]);
    const from = client.frames.length;
    const turnId = await client.say(threadId, "change it");
    const { id, params } = await asked(client);
    expect(params).toMatchObject({ threadId, turnId, itemId: "call_1", grantRoot: null });
    client.send({ id, result: { decision: "accept" } });
    await client.turnCompleted(turnId);
    expect(story(client, from)).toEqual([
      "item/started inProgress",
      "asked",
      "resolved",
      "item/completed completed",
      "turn completed",
    ]);
    expect(await readFile(path, "utf8")).toBe("x\n");
  });

  it("[SANDBOX-12] needs approval where the user's git runs what it writes", async () => {
    for (const path of [".husky/pre-commit", "tools/git.config", "nested/.git/config"]) {
      const replies = [patchCall(patchOf(`*** Add File: ${path}`, "+x")), say("done")];
      const { client, threadId, cwd, model } = await stage(replies);
      const git = (at: string, ...args: readonly string[]) =>
        execFileSync("git", ["-C", at, ...args], { stdio: "ignore" });
      git(cwd, "init", "-q");
      git(cwd, "config", "core.hooksPath", ".husky/_");
      git(cwd, "config", "include.path", "../tools/git.config");
      git(cwd, "update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},nested`);
      await client.say(threadId, "change it");
      const { id } = await asked(client);
      client.send({ id, result: { decision: "decline" } });
      await client.about(threadId, "turn/completed");
      expect(outputOf(model)).toContain("not applied");
      expect(existsSync(join(cwd, path))).toBe(false);
    }
  });

  it("[PATCH-5] needs no second approval for the same files when it was accepted for the session", async () => {
    const { patch, path } = await outside();
    const again = patchOf(`*** Update File: ${path}`, "@@", "-x", "+y");
    const { client, threadId } = await stage([patchCall(patch), patchCall(again, "call_2"), say("done")]);
    const turnId = await client.say(threadId, "change it");
    client.send({ id: (await asked(client)).id, result: { decision: "acceptForSession" } });
    await client.turnCompleted(turnId);
    expect(client.told("item/fileChange/requestApproval")).toHaveLength(1);
    expect(await readFile(path, "utf8")).toBe("y\n");
  });

  it.each([
    ["decline", "completed"],
    ["cancel", "interrupted"],
    [{ acceptWithExecpolicyAmendment: { execpolicy_amendment: ["ls"] } }, "completed"],
    [
      { applyNetworkPolicyAmendment: { network_policy_amendment: { host: "example.org", action: "allow" } } },
      "completed",
    ],
  ])("[PATCH-6] is declined by %j, and the turn ends %s", async (decision, status) => {
    const { patch, path } = await outside();
    const { client, threadId } = await stage([patchCall(patch), say("done")]);
    const from = client.frames.length;
    const turnId = await client.say(threadId, "change it");
    client.send({ id: (await asked(client)).id, result: { decision } });
    await client.turnCompleted(turnId);
    expect(story(client, from)).toEqual([
      "item/started inProgress",
      "asked",
      "resolved",
      "item/completed declined",
      `turn ${status}`,
    ]);
    await expect(readFile(path)).rejects.toThrow();
  });

  it("[PATCH-7] completes its item before the turn's end when the turn is interrupted", async () => {
    const { patch } = await outside();
    const { client, threadId } = await stage([patchCall(patch)]);
    const from = client.frames.length;
    const turnId = await client.say(threadId, "change it");
    await asked(client);
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnCompleted(turnId);
    expect(story(client, from)).toEqual([
      "item/started inProgress",
      "asked",
      "resolved",
      "item/completed failed",
      "turn interrupted",
    ]);
  });

  it("[PATCH-8] is refused with a reason for the model if no approval can be asked for", async () => {
    const { patch, path } = await outside();
    const { model, client, threadId } = await stage(
      [patchCall(patch), say("done")],
      ['sandbox_mode = "workspace-write"', 'approval_policy = "never"'],
    );
    const from = client.frames.length;
    await client.turn(threadId, "change it");
    expect(story(client, from)).toEqual(["turn completed"]);
    expect(outputOf(model)).toContain("may not be written in this sandbox");
    await expect(readFile(path)).rejects.toThrow();
  });

  it("[PATCH-9] cannot leave the workspace by a symlink or by .., and cannot enter .git", async () => {
    const elsewhere = await freshFolder("elsewhere");
    const escapes = [
      "link/x.txt",
      "../x.txt",
      ".git/hooks/pre-commit",
      "sub/../../x.txt",
      join(elsewhere, "x.txt"),
    ];
    const calls = escapes.map((path, nth) =>
      patchCall(patchOf(`*** Add File: ${path}`, "+x"), `call_${nth}`),
    );
    const { model, client, threadId, cwd } = await stage(
      [...calls, say("done")],
      ['sandbox_mode = "workspace-write"', 'approval_policy = "never"'],
    );
    await symlink(elsewhere, join(cwd, "link"));
    await client.turn(threadId, "change it");
    for (let nth = 1; nth <= escapes.length; nth++)
      expect(outputOf(model, nth)).toContain("may not be written in this sandbox");
    expect(await filesBelow(cwd)).toEqual(["a.txt"]);
    expect(await filesBelow(elsewhere)).toEqual([]);
  });

  it("[PATCH-10] needs approval in a read-only sandbox, and always under the policy untrusted", async () => {
    for (const top of [
      ['sandbox_mode = "read-only"'],
      ['sandbox_mode = "workspace-write"', 'approval_policy = "untrusted"'],
    ]) {
      const { client, threadId, cwd } = await stage([patchCall(UPDATE), say("done")], top);
      const turnId = await client.say(threadId, "change it");
      client.send({ id: (await asked(client)).id, result: { decision: "accept" } });
      await client.turnCompleted(turnId);
      expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("one\nTWO\nthree\n");
    }
  });
});

it("[PATCH-16] does not show or replace a file that commands cannot see", async () => {
  const hidden = (file: string, ...lines: readonly string[]): Reply => patchCall(patchOf(file, ...lines));
  const model = await MockModel.start();
  const { home, cwd } = await modelHome("responses", model.url, { top: ['sandbox_mode = "read-only"'] });
  const config = join(home, "config.toml");
  const before = await readFile(config, "utf8");
  await symlink(config, join(cwd, "link"));
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
  const client = await host.join(undefined, { experimentalApi: true });
  const threadId = await client.startThread({ cwd });
  for (const path of [config, "link"]) {
    model.reply(
      hidden(`*** Update File: ${path}`, "@@", "-nothing", "+x"),
      hidden(`*** Add File: ${path}`, "+x"),
      say("done"),
    );
    const from = model.asked.length;
    await client.turn(threadId, "look into it");
    expect(outputOf(model, from + 1)).not.toContain("model_provider");
    expect(outputOf(model, from + 2)).toContain("The patch was not applied");
  }
  expect(client.told("item/fileChange/requestApproval")).toEqual([]);
  expect(await readFile(config, "utf8")).toBe(before);
});
