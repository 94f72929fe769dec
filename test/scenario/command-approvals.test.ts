// Who is asked about commands, and what becomes of them: on the real program, with real processes and a local model.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asked, commandStage, hostOf, storyOf, WRITES_THERE_ONLY } from "../support/command-stage.ts";
import { filesBelow, freshFolder } from "../support/folder.ts";
import { escalated, outputOf, run, say } from "../support/model-replies.ts";

describe("a command that asks", () => {
  it("[APPROVE-1] is shown, needs approval, and runs outside of the sandbox when it is accepted", async () => {
    const outside = await freshFolder();
    const file = join(outside, "a");
    const { model, client, threadId, cwd } = await commandStage([
      escalated(`touch ${file} && echo ran`),
      say("done"),
    ]);
    const from = client.frames.length;
    const turnId = await client.say(threadId, "go");
    const question = await asked(client);
    expect(question.params).toMatchObject({
      kind: "command",
      threadId,
      turnId,
      itemId: "call_1",
      environmentId: "local",
      reason: "May I?",
      command: `/bin/bash -c 'touch ${file} && echo ran'`,
      cwd,
      commandActions: [{ type: "unknown" }],
    });
    expect(question.params.availableDecisions.at(0)).toBe("accept");
    expect(question.params.availableDecisions.slice(-2)).toEqual(["decline", "cancel"]);
    expect(existsSync(file)).toBe(false);
    client.send({ id: question.id, result: { decision: "accept" } });
    await client.turnCompleted(turnId);
    expect(storyOf(client.frames.slice(from))).toEqual([
      "item/started inProgress",
      "asked",
      "resolved",
      "item/completed completed",
      "turn completed",
    ]);
    expect(existsSync(file)).toBe(true);
    expect(outputOf(model)).toMatch(/exited with code 0[\s\S]*ran/);
  });

  it.each([
    ["decline", "completed"],
    ["cancel", "interrupted"],
  ])("[APPROVE-1] is not run when the answer is %s, and its turn ends %s", async (decision, status) => {
    const { model, client, threadId } = await commandStage([escalated("echo no"), say("understood")]);
    const from = client.frames.length;
    const turnId = await client.say(threadId, "go");
    client.send({ id: (await asked(client)).id, result: { decision } });
    await client.turnCompleted(turnId);
    expect(storyOf(client.frames.slice(from))).toEqual([
      "item/started inProgress",
      "asked",
      "resolved",
      "item/completed declined",
      `turn ${status}`,
    ]);
    if (decision === "decline") expect(outputOf(model)).toMatch(/was not run: the user declined it/);
  });

  it("[APPROVE-2] completes its item before its turn when that is interrupted", async () => {
    const { client, threadId } = await commandStage([escalated("echo no")]);
    const from = client.frames.length;
    const turnId = await client.say(threadId, "go");
    await asked(client);
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnCompleted(turnId);
    expect(storyOf(client.frames.slice(from))).toEqual([
      "item/started inProgress",
      "asked",
      "resolved",
      "item/completed failed",
      "turn interrupted",
    ]);
  });

  it("[APPROVE-3] needs no second approval when it was accepted for the session; another command does", async () => {
    const { client, threadId } = await commandStage([
      escalated("echo one"),
      escalated("echo one", {}, "call_2"),
      escalated("echo two", {}, "call_3"),
      say("done"),
    ]);
    const from = client.frames.length;
    const turnId = await client.say(threadId, "go");
    client.send({ id: (await asked(client)).id, result: { decision: "acceptForSession" } });
    client.send({ id: (await asked(client, { nth: 2 })).id, result: { decision: "decline" } });
    await client.turnCompleted(turnId);
    expect(storyOf(client.frames.slice(from))).toEqual([
      "item/started inProgress",
      "asked",
      "resolved",
      "item/completed completed",
      "item/started inProgress",
      "item/completed completed",
      "item/started inProgress",
      "asked",
      "resolved",
      "item/completed declined",
      "turn completed",
    ]);
  });

  it("[APPROVE-4] becomes a rule when it is always accepted, also in the next host", async () => {
    const first = await commandStage([escalated("ls -a", { prefix_rule: ["ls"] }), say("done")]);
    const turnId = await first.client.say(first.threadId, "go");
    const { id, params } = await asked(first.client);
    expect(params.proposedExecpolicyAmendment).toEqual(["ls"]);
    const amendment = { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["ls"] } };
    expect(params.availableDecisions).toEqual(["accept", "acceptForSession", amendment, "decline", "cancel"]);
    first.client.send({ id: id, result: { decision: amendment } });
    await first.client.turnCompleted(turnId);
    expect(await readFile(join(first.home, "rules", "default.rules"), "utf8")).toContain('["ls"]');
    await first.host.kill();
    first.model.reply(escalated("ls -l", {}, "call_2"), say("done"));
    const { client } = await hostOf(first.home);
    const threadId = await client.startThread({ cwd: first.cwd });
    const from = client.frames.length;
    await client.turn(threadId, "go");
    expect(storyOf(client.frames.slice(from))).not.toContain("asked");
  });

  it("[APPROVE-4] becomes no rule that was not offered", async () => {
    const { client, threadId, home } = await commandStage([escalated("echo x"), say("done")]);
    const turnId = await client.say(threadId, "go");
    const { id } = await asked(client);
    const amendment = { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["curl"] } };
    client.send({ id: id, result: { decision: amendment } });
    await client.turnCompleted(turnId);
    expect(existsSync(join(home, "rules", "default.rules"))).toBe(false);
  });

  it("[APPROVE-5] vanishes for a second client when the first one has answered", async () => {
    const { host, client, threadId } = await commandStage([escalated("echo yes"), say("done")]);
    const second = await host.join(undefined, { experimentalApi: true });
    await second.call("thread/resume", { threadId });
    const turnId = await client.say(threadId, "go");
    const [one, two] = await Promise.all([asked(client), asked(second)]);
    expect(two.id).toBe(one.id);
    second.send({ id: two.id, result: { decision: "accept" } });
    await client.turnCompleted(turnId);
    client.send({ id: one.id, result: { decision: "decline" } });
    await second.turnCompleted(turnId);
    for (const each of [client, second])
      expect(storyOf(each.frames).filter((line) => line !== "asked")).toEqual([
        "item/started inProgress",
        "resolved",
        "item/completed completed",
        "turn completed",
      ]);
  });

  it("[APPROVE-6] is asked about again by the next host, and runs once", async () => {
    const first = await commandStage([escalated("echo once >> $PWD/count"), say("done")]);
    const { threadId, home, cwd } = first;
    await first.client.say(threadId, "go");
    const before = await asked(first.client);
    await first.host.kill();
    const { client } = await hostOf(home);
    await client.call("thread/resume", { threadId });
    const again = await asked(client);
    expect(again.id).toBe(before.id);
    client.send({ id: again.id, result: { decision: "accept" } });
    await client.waitFor(({ method }) => method === "turn/completed", "the turn ends");
    expect(await readFile(join(cwd, "count"), "utf8")).toBe("once\n");
  });
});

describe("a thread that asks nobody", () => {
  it("[APPROVE-7] refuses commands that need approval, with a reason and without an item", async () => {
    const { model, client, threadId } = await commandStage(
      [escalated("echo x"), run({ cmd: "rm -rf sub" }, "call_2"), say("ok")],
      ['sandbox_mode = "workspace-write"', 'approval_policy = "never"'],
    );
    const from = client.frames.length;
    await client.turn(threadId, "go");
    expect(storyOf(client.frames.slice(from))).toEqual(["turn completed"]);
    expect(outputOf(model, 1)).toMatch(/outside of the sandbox has to be approved.*ask nobody/);
    expect(outputOf(model, 2)).toMatch(/was not run: it removes files/);
  });
});

describe("a command in the sandbox", () => {
  it("[EXEC-12] writes in the workspace, and nowhere else", async () => {
    const outside = await freshFolder();
    const { model, client, threadId, cwd } = await commandStage(
      [run({ cmd: `echo in > in.txt; echo out > ${outside}/out.txt` }), say("done")],
      WRITES_THERE_ONLY,
    );
    const from = client.frames.length;
    await client.turn(threadId, "go");
    expect(storyOf(client.frames.slice(from))).toContain("item/completed failed");
    expect(await readFile(join(cwd, "in.txt"), "utf8")).toBe("in\n");
    expect(existsSync(join(outside, "out.txt"))).toBe(false);
    expect(outputOf(model)).toMatch(/Read-only file system/);
  });

  it("[EXEC-12] can only read in a read-only thread, and cannot see the home", async () => {
    const top = ['sandbox_mode = "read-only"', 'approval_policy = "on-request"'];
    const { model, client, threadId, cwd, home } = await commandStage([], top);
    await writeFile(join(cwd, "a.txt"), "hello\n");
    model.reply(
      run({ cmd: "cat a.txt; echo x > b.txt" }),
      run({ cmd: `cat ${home}/config.toml` }, "call_2"),
      say("done"),
    );
    await client.turn(threadId, "go");
    expect(outputOf(model, 1)).toMatch(/hello[\s\S]*Read-only file system/);
    expect(existsSync(join(cwd, "b.txt"))).toBe(false);
    expect(outputOf(model, 2)).toMatch(/exited with code 1[\s\S]*(No such file|Permission denied)/);
  });

  it("[EXEC-12] can read the whole of a truncated output", async () => {
    const { model, client, threadId } = await commandStage([
      run({ cmd: "seq 1 20000", max_output_tokens: 50 }),
      say("done"),
    ]);
    await client.turn(threadId, "go");
    const path = /the whole output is in (\S+)/.exec(outputOf(model))![1]!;
    model.reply(run({ cmd: `tail -1 ${path}` }, "call_2"), say("done"));
    const before = model.asked.length;
    await client.turn(threadId, "look");
    expect(outputOf(model, before + 1)).toMatch(/exited with code 0[\s\S]*\n20000\n/);
  });
});

describe("a patch in a command", () => {
  const BEGIN = "*** Begin Patch";
  const END = "*** End Patch";

  it("[EXEC-13] is applied as a patch, also after `cd`", async () => {
    const patch = [BEGIN, "*** Add File: new.txt", "+hello", END].join("\n");
    const { client, threadId, cwd } = await commandStage([
      run({ cmd: `mkdir sub` }),
      run({ cmd: `cd sub && apply_patch <<'EOF'\n${patch}\nEOF\n` }, "call_2"),
      say("done"),
    ]);
    await client.turn(threadId, "go");
    expect(await readFile(join(cwd, "sub", "new.txt"), "utf8")).toBe("hello\n");
    const types = client.told("item/completed").map(({ params }) => params.item.type);
    expect(types).toEqual(["userMessage", "commandExecution", "fileChange", "agentMessage"]);
  });

  it("[EXEC-14] is applied between other commands, in their sandbox, and stops them if it fails", async () => {
    const outside = await freshFolder();
    const document = (...lines: readonly string[]): string =>
      ["<<'EOF'", BEGIN, ...lines, END, "EOF", ""].join("\n");
    const add = (path: string): string => document(`*** Add File: ${path}`, "+hällo");
    const { model, client, threadId, cwd } = await commandStage(
      [
        run({ cmd: `echo first && apply_patch ${add("new.txt")}` }),
        run({ cmd: `printf '%s\\n' '${BEGIN}' '*** Add File: b.txt' '+x' '${END}' | apply_patch` }, "call_2"),
        run(
          { cmd: `echo x; apply_patch ${document("*** Update File: new.txt", "@@", "-nothing")}` },
          "call_3",
        ),
        run({ cmd: `echo x; apply_patch ${add(join(outside, "a.txt"))}` }, "call_4"),
        say("done"),
      ],
      WRITES_THERE_ONLY,
    );
    await client.turn(threadId, "go");
    expect(outputOf(model, 1)).toMatch(
      /exited with code 0[\s\S]*first\nSuccess\. Updated the following files:\nA new\.txt\n/,
    );
    expect(outputOf(model, 2)).toMatch(
      /exited with code 0[\s\S]*Success\. Updated the following files:\nA b\.txt\n/,
    );
    expect(outputOf(model, 3)).toMatch(/exited with code 1[\s\S]*apply_patch: .*new\.txt/);
    expect(outputOf(model, 4)).toMatch(/exited with code 1[\s\S]*apply_patch: .*read-only file system/);
    expect(await readFile(join(cwd, "new.txt"), "utf8")).toBe("hällo\n");
    expect(await filesBelow(cwd)).toEqual(["b.txt", "new.txt"]);
    expect(existsSync(join(outside, "a.txt"))).toBe(false);
  });

  it("[EXEC-14] is applied where the user's PATH has no Node", async () => {
    const cmd = `echo first && apply_patch <<'EOF'\n${BEGIN}\n*** Add File: a.txt\n+x\n${END}\nEOF\n`;
    const { model, client, threadId, cwd } = await commandStage(
      [run({ cmd }), say("done")],
      ['sandbox_mode = "danger-full-access"'],
      { PATH: await freshFolder("empty") },
    );
    await client.turn(threadId, "go");
    expect(outputOf(model)).toMatch(/exited with code 0/);
    expect(await filesBelow(cwd)).toEqual(["a.txt"]);
  });
});
