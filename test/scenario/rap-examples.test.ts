// The examples as people run them: with their one command, and the lines that they print in the host's configuration.
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { MockModel, type Reply, responses } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { asked, call, EXPERIMENTAL, outputs, SOCKET, say } from "../support/rap-stage.ts";

const root = join(import.meta.dirname, "../..");
const TOKEN = "known to both";
const running: { kill(): void }[] = [];
afterAll(() => {
  for (const one of running) one.kill();
});

/** An example that runs, and a host that has what it printed in its configuration. */
async function together(name: string, replies: readonly Reply[], env: Record<string, string> = {}) {
  const data = await freshFolder("example");
  const child = spawn(process.execPath, [join(root, "examples/run.mjs"), name], {
    env: { ...process.env, PORT: "0", RAP_DATA: data, RAP_TOKEN: TOKEN, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.push(child);
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  await eventually(() => printed.includes("bearer_token_env_var"), `${name} listens`);
  const lines = printed.split("config.toml:\n")[1]!.split("\n");
  const model = await MockModel.start(...replies);
  const { home, cwd } = await modelHome("responses", model.url, { provider: lines });
  const host = await spawnHost({ home, args: SOCKET, env: { RAP_TOKEN: TOKEN } });
  const client = await host.join(undefined, EXPERIMENTAL);
  const threadId = await client.startThread({ cwd });
  return { data, model, host, client, threadId };
}

const using = (name: string, args: object, callId: string): Reply =>
  call(responses.call(name, JSON.stringify(args), callId));

describe("an example with a host", () => {
  it("keeps a workspace for a thread, shows its changes, and clears it away when the thread is closed", async () => {
    const repository = await freshFolder("repository");
    const git = (...args: readonly string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
        cwd: repository,
        encoding: "utf8",
      });
    await writeFile(join(repository, "a.txt"), "one\n");
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "begin");
    const replies = [
      using("read_file", { path: "a.txt" }, "call_1"),
      using("write_file", { path: "b.txt", text: "two\n" }, "call_2"),
      using("read_file", { path: "../../../../etc/passwd" }, "call_3"),
      say("Done"),
    ];
    const { client, threadId, model, data } = await together("workspace", replies, {
      REPOSITORY: repository,
    });
    await client.turn(threadId, "work");
    expect(outputs(model, 3)).toEqual(["one\n", "Wrote b.txt.", expect.stringMatching(/^Error: /)]);
    const shown = await client.about(threadId, "thread/view/updated");
    expect(JSON.stringify(shown.params)).toMatch(/b\.txt/);
    expect(existsSync(join(repository, "b.txt"))).toBe(false);
    expect(git("worktree", "list").trim().split("\n")).toHaveLength(2);
    await client.call("thread/unload", { threadId });
    await eventually(() => git("worktree", "list").trim().split("\n").length === 1, "the worktree is gone");
    expect(git("for-each-ref", "refs/kept").trim().split("\n")).toHaveLength(1);
    expect((await readdir(data, { recursive: true })).join()).not.toMatch(/b\.txt/);
  });

  it("reminds a thread of something, by a turn of its own", async () => {
    const replies = [
      using("remind_me", { text: "the tea", in_seconds: 1 }, "call_1"),
      say("I will be reminded"),
      say("The tea is ready"),
    ];
    const { client, threadId, model } = await together("reminder", replies);
    await client.turn(threadId, "remind me");
    expect(outputs(model, 1)).toEqual([expect.stringMatching(/^I will remind you at/)]);
    await client.until(() => client.count("turn/completed") === 2, "the reminder's own turn");
    expect(JSON.stringify(model.asked.at(-1)!.body.input)).toMatch(/Reminder: the tea/);
  });

  it("asks the user before it deploys, and goes on with the answer", async () => {
    const replies = [
      using("deploy", { service: "shop", environment: "staging" }, "call_1"),
      say("It is there"),
    ];
    const { client, threadId, model, data } = await together("approval", replies);
    const turnId = await client.say(threadId, "deploy");
    const { id, params } = await asked(client, "item/tool/requestUserInput");
    const [question] = params.questions;
    expect(question.question).toMatch(/Deploy shop to staging\?/);
    expect(existsSync(join(data, "deployments.jsonl"))).toBe(false);
    const { label } = question.options[0];
    client.send({ id, result: { answers: { [question.id]: { answers: [label] } } } });
    await client.turnCompleted(turnId);
    expect(JSON.parse(outputs(model, 1)[0]).deployed).toMatchObject({ service: "shop" });
    expect(await readFile(join(data, "deployments.jsonl"), "utf8")).toMatch(/"shop"/);
  });
});
