// One turn in the terminal, on a home that others use.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import { MockModel, messages, silent, stream } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import { hasSandbox } from "../support/sandbox-here.ts";

it("[CLI-1] leaves the threads of a host that was killed to the next host", async () => {
  const model = await MockModel.start(silent(""), say("Here I am."), say("Where were we?"));
  const { home, cwd } = await modelHome("responses", model.url);
  const { host, client } = await stdioHost({ home });
  const threadId = await client.startThread({ cwd });
  const turnId = await client.say(threadId, "Are you there?");
  await eventually(async () => model.asked.length === 1, "the model was asked");
  await host.kill();

  const ran = await runBobbin(["exec", "Hello"], { env: { BOBBIN_HOME: home } });
  expect(ran).toMatchObject({ code: 0, stdout: "Here I am.\n" });
  expect(model.asked).toHaveLength(2);

  const next = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
  const back = await next.join();
  await eventually(async () => {
    const { thread } = await back.call("thread/read", { threadId, includeTurns: true });
    const [turn] = thread.turns;
    expect([turn.id, turn.status]).toEqual([turnId, expect.stringMatching(/^(inProgress|completed)$/)]);
    return turn.status === "completed";
  }, "the turn went on");
  expect(model.asked).toHaveLength(3);
});

it("[TERM-1] uses the host that runs on the home, and one of its own if it is given a configuration", async () => {
  const model = await MockModel.start(say("Here I am."));
  const { home } = await modelHome("responses", model.url);
  // Only the running host has this model: it is not in config.toml.
  const host = await spawnHost({
    home,
    args: ["--listen", "ws://127.0.0.1:0", "-c", 'model="model-of-the-host"'],
  });
  const client = await host.join(undefined, { experimentalApi: true });
  const env = { BOBBIN_HOME: home };
  expect(await runBobbin(["exec", "Hello"], { env })).toMatchObject({ code: 0, stdout: "Here I am.\n" });
  expect(model.asked.map(({ body }) => body.model)).toEqual(["model-of-the-host"]);
  await client.waitFor(({ method }) => method === "thread/started", "the host to start a thread");
  const started = client.count("thread/started");
  const own = await runBobbin(["exec", "-c", 'model="model-of-its-own"', "Hello"], { env });
  expect(own).toMatchObject({ code: 0, stdout: "Here I am.\n" });
  expect(model.asked.at(-1)!.body.model).toBe("model-of-its-own");
  await client.call("thread/list", {});
  expect(client.count("thread/started")).toBe(started);
});

it("[CLI-2] talks to a real model with nothing but a key and the provider's name", async () => {
  for (const [provider, reply, header, key] of [
    ["openai", say("Hi!"), "authorization", "Bearer sk-test"],
    ["anthropic", stream(messages.stream([messages.text(0, "Hi!")])), "x-api-key", "sk-test"],
  ] as const) {
    const model = await MockModel.start(reply);
    const there = ["-c", `model_providers.${provider}.base_url="${model.url}"`];
    const env = { [`${provider.toUpperCase()}_API_KEY`]: "sk-test" };
    const ran = await runBobbin(["exec", "-c", `model_provider=${provider}`, ...there, "Hello"], { env });
    expect(ran).toMatchObject({ code: 0, stdout: "Hi!\n" });
    expect(model.asked[0]!.headers[header]).toBe(key);
  }
});

it("[HELPER-18] shows what a helper does, and its answer", async () => {
  const cwd = await freshFolder();
  const exec = (...words: readonly string[]) => runBobbin(["exec", "-C", cwd, "--full-auto", ...words]);
  const ran = await exec("help: write notes.txt: from a helper");
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/^The helper says:\n\n/) });
  expect(ran.stdout).toContain("Success. Updated the following files:");
  const [, name] = /^\[(\w+)\] write notes\.txt: from a helper$/m.exec(ran.stderr)!;
  expect(ran.stderr).toContain(`[${name}] completed: ${join(cwd, "notes.txt")}\n[${name}] completed\n`);
  const json = await exec("--json", "help: Count the files here.");
  const items = json.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).item)
    .filter((item) => item?.type === "collab_tool_call");
  expect(items.map(({ tool, status }) => `${tool} ${status}`)).toEqual([
    "spawn_agent in_progress",
    "spawn_agent completed",
    "wait in_progress",
    "wait completed",
  ]);
});

it.runIf(hasSandbox)(
  "[CLI-8] lets commands and patches write in a folder that --add-dir names, and not without it",
  async () => {
    const [cwd, other] = [await freshFolder(), await freshFolder()];
    const there = ["exclude_slash_tmp", "exclude_tmpdir_env_var"].flatMap((key) => [
      "-c",
      `sandbox_workspace_write.${key}=true`,
    ]);
    const exec = (...more: readonly string[]) =>
      runBobbin(["exec", "--full-auto", "-C", cwd, ...there, ...more]);
    const run = `run: echo by a command > ${other}/command.txt`;
    const write = `write ${other}/patch.txt: by a patch`;
    await exec(run);
    await exec(write);
    expect(await readdir(other)).toEqual([]);
    await exec("--add-dir", other, run);
    await exec("--add-dir", other, write);
    expect((await readdir(other)).sort()).toEqual(["command.txt", "patch.txt"]);
    expect(await exec("--add-dir", "nowhere", run)).toMatchObject({ code: 2 });
  },
);
