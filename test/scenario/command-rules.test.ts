// Questions about commands, on the real program, with a scripted model.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  asked,
  COMMAND_QUESTION,
  type CommandStage,
  commandStage,
  hostOf,
  storyOf,
  WRITES,
} from "../support/command-stage.ts";
import type { Reply } from "../support/mock-model.ts";
import { escalated, outputOf, run, say } from "../support/model-replies.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

async function stage(
  replies: readonly Reply[],
  top?: readonly string[],
  rules?: string,
): Promise<CommandStage> {
  const all = await commandStage(replies, top);
  if (rules !== undefined) {
    await mkdir(join(all.home, "rules"));
    await writeFile(join(all.home, "rules", "team.rules"), rules);
  }
  return all;
}

const questions = (client: WireClient): Received[] => client.told(COMMAND_QUESTION);

async function answered(replies: readonly Reply[], decision: unknown, top?: string[]): Promise<CommandStage> {
  const all = await stage(replies, top);
  const turnId = await all.client.say(all.threadId, "run it");
  all.client.send({ id: (await asked(all.client)).id, result: { decision } });
  await all.client.turnCompleted(turnId);
  return all;
}

describe("a question about a command", () => {
  it("[APPROVE-8] accepted for the session is not asked again for exactly that command, even after a restart", async () => {
    const first = await answered(
      [escalated("echo s1"), escalated("echo s1", {}, "call_2"), say("done")],
      "acceptForSession",
    );
    expect(questions(first.client)).toHaveLength(1);
    first.host.signal("SIGTERM");
    await first.host.exited;
    const { model, home, cwd, threadId } = first;
    model.reply(
      escalated("echo s1", {}, "call_3"),
      escalated("echo s1 ", { workdir: "." }, "call_4"),
      say("done"),
    );
    const { client } = await hostOf(home);
    await client.call("thread/resume", { threadId, cwd });
    const turnId = await client.say(threadId, "again");
    const question = await asked(client);
    expect(question.params.itemId).toBe("call_4");
    client.send({ id: question.id, result: { decision: "decline" } });
    await client.turnCompleted(turnId);
    expect(questions(client)).toHaveLength(1);
  });

  it("[APPROVE-9] that no client can answer is declined after its deadline, with a reason for the model", async () => {
    const { client, host, model, threadId } = await stage(
      [escalated("echo x"), say("done")],
      [...WRITES, "server_request_deadline_secs = 0", "thread_unload_delay_secs = 600"],
    );
    await client.say(threadId, "run it");
    await asked(client);
    await client.close();
    const other = await host.join(undefined, { experimentalApi: true });
    await other.until(() => model.asked.length === 2, "the model to hear of it");
    expect(outputOf(model)).toContain("nobody was there to allow it");
  });
});

describe("a command", () => {
  it("[APPROVE-10] that removes files by force is asked about, with the reason, and is offered no rule", async () => {
    const { client } = await answered([run({ cmd: "ls && rm -rf sub" }), say("done")], "decline", [
      'sandbox_mode = "danger-full-access"',
      'approval_policy = "on-request"',
    ]);
    const { params } = questions(client)[0]!;
    expect(params.reason).toContain("removes files");
    expect(params.availableDecisions).toEqual(["accept", "acceptForSession", "decline", "cancel"]);
    expect(params.proposedExecpolicyAmendment).toBeUndefined();
  });

  it("[APPROVE-11] always needs approval under the policy untrusted", async () => {
    const { client, cwd } = await answered([run({ cmd: "ls && cat x" }), say("done")], "decline", [
      'sandbox_mode = "danger-full-access"',
      'approval_policy = "untrusted"',
    ]);
    expect(questions(client)[0]!.params.commandActions).toEqual([
      { type: "listFiles", command: "ls", path: null },
      { type: "read", command: "cat x", name: "x", path: join(cwd, "x") },
    ]);
  });

  it("[APPROVE-12] that a rule forbids never runs, at any place of the command line", async () => {
    const { client, model, threadId } = await stage(
      [run({ cmd: "echo $(curl x)" }), escalated("bash -c 'curl x'", {}, "call_2"), say("done")],
      ['sandbox_mode = "danger-full-access"'],
      'prefix_rule(["curl"], "forbidden", justification="Use the mirror.")\n',
    );
    await client.turn(threadId, "run it");
    expect(storyOf(client.frames)).toEqual(["turn completed"]);
    expect(outputOf(model, 1)).toBe("The command was not run: a rule forbids `curl`. Use the mirror.");
    expect(outputOf(model, 2)).toContain("a rule forbids `curl`");
  });

  it("[REQ-10] that requirements.toml forbids never runs, and one that it has asked about is asked about", async () => {
    const { client, threadId, model, home } = await stage(
      [run({ cmd: "echo x; curl x" }), run({ cmd: "ls /" }, "call_2"), say("done")],
      ['sandbox_mode = "danger-full-access"'],
      'prefix_rule(["curl"])\nprefix_rule(["ls"])\n',
    );
    await writeFile(
      join(home, "requirements.toml"),
      `[rules]\nprefix_rules = [
        { pattern = [{ any_of = ["wget", "curl"] }], decision = "forbidden", justification = "Use the mirror." },
        { pattern = [{ token = "ls" }, { token = "/" }], decision = "prompt" },
      ]\n`,
    );
    // Requirements count for what is loaded next.
    await client.startThread();
    const turnId = await client.say(threadId, "run it");
    client.send({ id: (await asked(client)).id, result: { decision: "decline" } });
    await client.turnCompleted(turnId);
    expect(outputOf(model, 1)).toBe("The command was not run: a rule forbids `wget|curl`. Use the mirror.");
    expect(questions(client).map(({ params }) => params.command)).toEqual([expect.stringContaining("ls /")]);
    const { commands } = await client.call("rules/list", {});
    expect(commands[0]).toMatchObject({ file: "requirements.toml", decision: "forbidden", revocable: false });
  });

  it("[APPROVE-13] that rules allow needs approval if the model names another program as the shell", async () => {
    const { client, threadId, cwd } = await stage(
      [escalated("git status", { shell: "./sh" }), say("done")],
      WRITES,
      'prefix_rule(["git", "status"])\n',
    );
    await writeFile(join(cwd, "sh"), "#!/bin/sh\ntouch /tmp/never\n", { mode: 0o755 });
    const turnId = await client.say(threadId, "run it");
    client.send({ id: (await asked(client)).id, result: { decision: "decline" } });
    await client.turnCompleted(turnId);
    expect(questions(client)).toHaveLength(1);
  });
});
