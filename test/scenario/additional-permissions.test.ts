// Commands that ask for more than the sandbox gives, on the real program with the real sandbox.
import { existsSync } from "node:fs";
import { readFile, rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  asked,
  COMMAND_QUESTION,
  type CommandStage,
  commandStage,
  storyOf,
  WRITES_THERE_ONLY,
} from "../support/command-stage.ts";
import { freshFolder } from "../support/folder.ts";
import { type Reply, responses, stream } from "../support/mock-model.ts";
import { outputOf, run, say } from "../support/model-replies.ts";
import { hasSandbox } from "../support/sandbox-here.ts";

const runWith = (cmd: string, write: readonly string[], callId?: string, more: object = {}): Reply => {
  const permissions = {
    sandbox_permissions: "with_additional_permissions",
    justification: "May I write there?",
    additional_permissions: { file_system: { write } },
  };
  return run({ cmd, ...permissions, ...more }, callId);
};

const stage = (top = WRITES_THERE_ONLY): Promise<CommandStage> => commandStage([say("done")], top);

const elsewhere = (): Promise<string> => freshFolder("elsewhere");

describe.runIf(hasSandbox)("a command with additional permissions", () => {
  it("[PERMIT-5] is approved together with them, and may write there and nowhere else", async () => {
    const [open, closed] = [await elsewhere(), await elsewhere()];
    const { model, client, threadId, cwd } = await stage();
    const cmd = `echo hi > ${open}/a; echo no > ${closed}/b`;
    model.reply(runWith(cmd, [open]), say("done"));
    const from = client.frames.length;
    const turnId = await client.say(threadId, "go");
    const { id, params } = await asked(client, { from });
    expect(params).toMatchObject({
      kind: "command",
      itemId: "call_1",
      reason: "May I write there?",
      cwd,
      additionalPermissions: {
        network: null,
        fileSystem: {
          read: null,
          write: [open],
          entries: [{ path: { type: "path", path: open }, access: "write" }],
        },
      },
      availableDecisions: ["accept", "acceptForSession", "decline", "cancel"],
    });
    expect(params).not.toHaveProperty("proposedExecpolicyAmendment");
    client.send({ id, result: { decision: "accept" } });
    await client.turnCompleted(turnId);
    expect(storyOf(client.frames.slice(from))).toEqual([
      "item/started inProgress",
      "asked",
      "resolved",
      "item/completed failed",
      "turn completed",
    ]);
    expect(await readFile(join(open, "a"), "utf8")).toBe("hi\n");
    expect(existsSync(join(closed, "b"))).toBe(false);
    expect(outputOf(model, 1)).toMatch(/Read-only file system/);
  });

  it("[PERMIT-5] needs no second approval in the session, for the same permissions only", async () => {
    const [one, other] = [await elsewhere(), await elsewhere()];
    const { model, client, threadId, cwd } = await stage();
    const cmd = `echo hi >> ${one}/a`;
    model.reply(
      runWith(cmd, [one]),
      runWith(cmd, [one], "call_2"),
      runWith(cmd, [one, other], "call_3"),
      say("done"),
    );
    const from = client.frames.length;
    const turnId = await client.say(threadId, "go");
    const first = await asked(client, { from });
    client.send({ id: first.id, result: { decision: "acceptForSession" } });
    const second = await asked(client, { from: client.frames.indexOf(first) + 1 });
    expect(second.params.itemId).toBe("call_3");
    client.send({ id: second.id, result: { decision: "decline" } });
    await client.turnCompleted(turnId);
    expect(await readFile(join(one, "a"), "utf8")).toBe("hi\nhi\n");
    const { data } = await client.call("thread/grants/list", { threadId });
    expect(data).toMatchObject([
      {
        kind: "command",
        description: `Run this command in the sandbox, in ${cwd}, and let it write to ${one}: ${cmd}`,
      },
    ]);
  });

  it("[PERMIT-5] is not run if a path leads to another file when the answer arrives", async () => {
    const [folder, target] = [await elsewhere(), await elsewhere()];
    const { model, client, threadId, cwd } = await stage();
    const link = join(cwd, "link");
    await symlink(folder, link);
    model.reply(runWith(`echo hi > ${link}/a`, [link]), say("done"));
    const from = client.frames.length;
    const turnId = await client.say(threadId, "go");
    const { id, params } = await asked(client, { from });
    expect(params.additionalPermissions.fileSystem.write).toEqual([folder]);
    await symlink(target, `${link}2`);
    await rename(`${link}2`, link);
    client.send({ id, result: { decision: "accept" } });
    await client.turnCompleted(turnId);
    expect(outputOf(model, 1)).toContain("has changed since the user was asked");
    expect([existsSync(join(folder, "a")), existsSync(join(target, "a"))]).toEqual([false, false]);
  });

  it("[PERMIT-5] needs approval for input once it runs in the background", async () => {
    const folder = await elsewhere();
    const { model, client, threadId } = await stage();
    const write: Reply = (response, request) => {
      const session = /session ID (\d+)/.exec(JSON.stringify(request.body.input))![1];
      const args = JSON.stringify({ session_id: Number(session), chars: "x\n" });
      return stream(responses.stream(responses.call("write_stdin", args, "call_2")))(response, request);
    };
    model.reply(runWith("cat", [folder], "call_1", { tty: true, yield_time_ms: 250 }), write, say("done"));
    const from = client.frames.length;
    const turnId = await client.say(threadId, "go");
    const first = await asked(client, { from });
    client.send({ id: first.id, result: { decision: "accept" } });
    const second = await asked(client, { from: client.frames.indexOf(first) + 1 });
    expect(second.params).toMatchObject({
      kind: "writeStdin",
      reason: "The process can do more than the sandbox allows. It was started as: /bin/bash -c cat",
    });
    client.send({ id: second.id, result: { decision: "decline" } });
    await client.turnCompleted(turnId);
  });

  it("[PERMIT-5] runs at once if the sandbox gives them already", async () => {
    const { model, client, threadId, cwd } = await stage();
    model.reply(runWith("echo hi > a", [cwd]), say("done"));
    await client.turn(threadId, "go");
    expect(client.told(COMMAND_QUESTION)).toEqual([]);
    expect(await readFile(join(cwd, "a"), "utf8")).toBe("hi\n");
  });

  it("[PERMIT-5] is refused with a reason: the home, no one to ask, no permission named, the wrong mode", async () => {
    const { model, client, threadId, home } = await stage();
    const none = { additional_permissions: {} };
    model.reply(
      runWith("ls", [home]),
      runWith("ls", [], "call_2", none),
      runWith("ls", ["/srv"], "call_3", { sandbox_permissions: "use_default" }),
      say("done"),
    );
    await client.turn(threadId, "go");
    expect(outputOf(model, 1)).toContain("the home of this host is never given away");
    expect(outputOf(model, 2)).toContain("needs `additional_permissions`");
    expect(outputOf(model, 3)).toContain("needs `sandbox_permissions`");
    model.reply(runWith("ls", ["/srv"], "call_4"), say("done"));
    await client.call("thread/settings/update", { threadId, approvalPolicy: "never" });
    await client.turn(threadId, "go");
    expect(outputOf(model, model.asked.length - 1)).toContain("set to ask nobody");
    expect(client.told(COMMAND_QUESTION)).toEqual([]);
  });
});
