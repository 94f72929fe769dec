import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder, markRepository } from "../support/folder.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import { runBobbin } from "../support/run-bobbin.ts";

const TEXT = '# mine\nmodel_provder = "openai"\n[tui]\nnotifications = true\n';

async function homeWith(text: string): Promise<{ readonly home: string; readonly file: string }> {
  const home = await freshFolder();
  const file = join(home, "config.toml");
  await writeFile(file, text);
  return { home, file };
}

it("[KEYS-3] warns clients and on stderr of a misspelled key, in the file and in -c", async () => {
  const { home, file } = await homeWith(TEXT);
  const { client, host } = await stdioHost({ home, args: ["-c", "modle=offline"] });
  await client.until(() => client.told("configWarning").length === 2, "both warnings");
  const message = `${file}:2:1: unknown configuration key \`model_provder\`; did you mean \`model_provider\`?`;
  const option = "-c modle=offline: unknown configuration key `modle`; did you mean `model`?";
  expect(client.told("configWarning").map(({ params }) => params)).toEqual([
    {
      summary: message,
      details: null,
      path: file,
      range: { start: { line: 2, column: 1 }, end: { line: 2, column: 13 } },
    },
    { summary: option, details: null },
  ]);
  expect((await client.call("thread/start")).modelProvider).toBe("offline");
  for (const words of [message, option]) await host.logged(({ msg }) => msg === words);
});

it("[KEYS-6] refuses to start with --strict-config, and starts with a file that has no such key", async () => {
  const { home, file } = await homeWith(TEXT);
  const host = await spawnHost({ home, args: ["--strict-config"] });
  expect((await host.exited).code).toBe(2);
  expect(host.stderr).toContain(`the configuration cannot be used: ${file}:2:1: unknown configuration key`);
  const env = { BOBBIN_HOME: home };
  expect(await runBobbin(["exec", "--strict-config", "hi"], { env })).toMatchObject({ code: 2 });
  await writeFile(file, "model = 5\n");
  expect((await (await spawnHost({ home, args: ["--strict-config"] })).exited).code).toBe(2);
  await writeFile(file, TEXT.replace("provder", "provider").replace("openai", "offline"));
  const { client } = await stdioHost({ home, args: ["--strict-config"] });
  expect((await client.call("thread/start")).modelProvider).toBe("offline");
});

it("[KEYS-6] shows such a key in bobbin doctor, and lists all in bobbin config check", async () => {
  const { home, file } = await homeWith(`${TEXT}[sandbox_workspace_write]\nnetwork_acces = true\n`);
  const env = { BOBBIN_HOME: home };
  const { stdout } = await runBobbin(["doctor", "--json"], { env });
  expect(JSON.parse(stdout).checks).toContainEqual({
    name: "keys",
    status: "warning",
    found: expect.stringContaining("model_provder"),
    advice: expect.stringContaining("bobbin config check"),
  });
  const check = await runBobbin(["config", "check"], { env });
  expect(check.code).toBe(1);
  expect(check.stdout.trim().split("\n")).toEqual([
    expect.stringContaining(`${file}:2:1: `),
    expect.stringContaining(`${file}:6:1: `),
  ]);
  await writeFile(file, "");
  expect(await runBobbin(["config", "check"], { env })).toMatchObject({ code: 0 });
});

it("[KEYS-3] warns of a misspelled key in the file of a trusted project, once", async () => {
  const project = await freshFolder("project");
  const file = join(project, ".bobbin", "config.toml");
  const text = 'model_reasoning_effrt = "low"\n';
  markRepository(project);
  await mkdir(join(project, ".bobbin"));
  await writeFile(file, text);
  const digest = createHash("sha256").update(text).digest("hex");
  const { home } = await homeWith(
    `[projects."${project}"]\ntrust_level = "trusted"\ntrusted_files = { ".bobbin/config.toml" = "sha256:${digest}" }\n`,
  );
  const { client } = await stdioHost({ home });
  await client.call("thread/start", { cwd: project });
  const { params } = await client.waitFor(({ method }) => method === "configWarning", "a warning");
  expect(params).toMatchObject({ summary: expect.stringContaining(`${file}:1:1: `), path: file });
  expect(params.summary).toContain("did you mean `model_reasoning_effort`?");
  await client.call("thread/start", { cwd: project });
  await client.call("config/read", {});
  expect(client.told("configWarning")).toHaveLength(1);
});

it("[KEYS-8] warns of a misspelled key in the config of a request, once, and refuses it with --strict-config", async () => {
  const { home } = await homeWith("");
  const { client } = await stdioHost({ home });
  const warnings = () => client.told("configWarning").map(({ params }) => params.summary);
  const config = { modle: "x", "sandbox_workspace_write.network_acces": true, tui: { theme: "dark" } };
  const { thread } = await client.call("thread/start", { config });
  const model = "unknown configuration key `modle`; did you mean `model`?";
  const network =
    "unknown configuration key `sandbox_workspace_write.network_acces`; did you mean `sandbox_workspace_write.network_access`?";
  const expected = [`config of thread/start: ${model}`, `config of thread/start: ${network}`];
  expect(warnings()).toEqual(expected);
  await client.call("thread/start", { config });
  expect(warnings()).toEqual(expected);
  await client.turn(thread.id, "Hello!");
  await client.call("thread/fork", { threadId: thread.id, config: { modle: "x" } });
  await client.call("thread/resume", { threadId: thread.id, config: { modle: "x" } });
  expect(warnings().slice(2)).toEqual([
    `config of thread/fork: ${model}`,
    `config of thread/resume: ${model}`,
  ]);
  // However many there are.
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, nth) => [`unknown_${nth}`, 1]));
  await client.call("thread/start", { config: many });
  expect(warnings().length).toBe(24);

  const strict = await stdioHost({ home, args: ["--strict-config"] });
  for (const [method, params] of [
    ["thread/start", {}],
    ["thread/resume", { threadId: thread.id }],
    ["thread/fork", { threadId: thread.id }],
  ] as const) {
    const { data, message } = await strict.client.refusal(method, { ...params, config: { modle: "x" } });
    expect([data.code, message]).toEqual(["unknownConfigKey", `config of ${method}: ${model}`]);
  }
  await strict.client.call("thread/start", { config: { tui: { theme: "dark" } } });
});
