import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import { mockHost } from "../support/mock-host.ts";
import { responses, stream } from "../support/mock-model.ts";

const EXPERIMENTAL = { experimentalApi: true };
const FLAGS = { sandbox_approval: true, rules: true, mcp_elicitations: false };
const ALL_FLAGS = { ...FLAGS, request_permissions: false, skill_approval: false };

async function homeWith(text: string): Promise<string> {
  const home = await freshFolder();
  await writeFile(join(home, "config.toml"), text);
  return home;
}

it("[CONF-5] accepts every approval policy of the peer's configuration", async () => {
  for (const [line, policy] of [
    ['"on-failure"', "on-request"],
    ["{ granular = { sandbox_approval = true, rules = true } }", { granular: ALL_FLAGS }],
  ] as const) {
    const home = await homeWith(`approval_policy = ${line}\n`);
    const { client } = await stdioHost({ home, capabilities: EXPERIMENTAL });
    expect((await client.call("thread/start")).approvalPolicy).toEqual(policy);
  }
  const { client } = await stdioHost({ capabilities: EXPERIMENTAL });
  const started = async (params: object) => (await client.call("thread/start", params)).approvalPolicy;
  expect(await started({ config: { approval_policy: "on-failure" } })).toBe("on-request");
  const granular = { granular: ALL_FLAGS };
  expect(await started({ config: { approval_policy: { granular: FLAGS } } })).toEqual(granular);
  expect(await started({ config: { "approval_policy.granular": FLAGS } })).toEqual(granular);
  expect(await started({ approvalPolicy: { granular: FLAGS } })).toEqual(granular);
  expect((await client.refusal("thread/start", { config: { approval_policy: {} } })).message).toMatch(
    /^failed to load configuration: approval_policy/,
  );
});

it("[CONF-6] runs with a file that cannot be used, reports it, and loads no thread", async () => {
  for (const [text, why] of [
    ["model = \n", /config\.toml: .*TOML/],
    ["model = 5\n", /^model: expected a string/],
    ['model_provider = "oss"\n', /^model_provider: "oss" is not one of/],
  ] as const) {
    const home = await homeWith(text);
    await refusesToLoad(home, why);
  }
  // A folder in its place is no reason to end either.
  const home = await freshFolder();
  await mkdir(join(home, "config.toml"));
  const { client } = await refusesToLoad(home, /config\.toml cannot be read: it is a folder$/);
  for (const [method, params] of [
    ["config/read", {}],
    ["config/value/write", { keyPath: "model", value: "offline", mergeStrategy: "replace" }],
  ] as const) {
    expect((await client.refusal(method, params)).data.code).toBe("badConfig");
  }
});

async function refusesToLoad(home: string, why: RegExp) {
  const { client, host } = await stdioHost({ home });
  const [warning] = [await client.waitFor(({ method }) => method === "configWarning", "a warning")];
  expect(warning.params).toMatchObject({
    summary: "Invalid configuration; using defaults.",
    details: expect.stringMatching(why),
    path: join(home, "config.toml"),
  });
  for (const [method, params] of [
    ["thread/start", {}],
    ["thread/resume", { threadId: "01a1e0e3-d978-7663-ab83-83144a434ff6" }],
    ["thread/fork", { threadId: "01a1e0e3-d978-7663-ab83-83144a434ff6" }],
  ] as const) {
    const { code, message, data } = await client.refusal(method, params);
    expect([code, data.code]).toEqual([-32600, "badConfig"]);
    expect(message).toBe(`failed to load configuration: ${warning.params.details}`);
  }
  expect((await client.call("thread/list")).data).toEqual([]);
  expect(host.stderr).toContain("config.toml cannot be used");
  return { client };
}

it("[CONF-9] warns of a policy that is replaced by another, and of rules with a mistake", async () => {
  const home = await homeWith('approval_policy = "on-failure"\n');
  await mkdir(join(home, "rules"));
  const file = join(home, "rules", "team.rules");
  await writeFile(file, "prefix_rule(['ls'])\nnonsense\n");
  const { client } = await stdioHost({ home });
  await client.until(() => client.told("configWarning").length === 2, "both warnings");
  expect(
    client.told("configWarning").map(({ params }) => [params.summary, params.details, params.path]),
  ).toEqual([
    [expect.stringContaining('"on-failure" is taken as "on-request"'), null, join(home, "config.toml")],
    [expect.stringContaining("nothing that it allows counts"), expect.stringContaining("team.rules:2"), file],
  ]);
  expect((await client.call("thread/start")).approvalPolicy).toBe("on-request");
});

it("[CONF-9] warns a client once that asks for a policy which is replaced by another", async () => {
  const { client } = await stdioHost({ home: await homeWith("") });
  const { thread, approvalPolicy } = await client.call("thread/start", { approvalPolicy: "on-failure" });
  expect(approvalPolicy).toBe("on-request");
  const input = [{ type: "text", text: "hello" }];
  const { turn } = await client.call("turn/start", {
    threadId: thread.id,
    input,
    approvalPolicy: "on-failure",
  });
  await client.turnCompleted(turn.id);
  expect(client.told("warning").map(({ params }) => [params.threadId, params.message])).toEqual([
    [
      null,
      'The approval policy "on-failure" is taken as "on-request": the model asks before it leaves the sandbox.',
    ],
  ]);
});

it("[CONF-6] does the same for clients on a socket, and goes on when a client repairs the file", async () => {
  const home = await homeWith("model = 5\n");
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
  const client = await host.connect();
  await client.initialize();
  await client.waitFor(({ method }) => method === "configWarning", "a warning");
  await client.refusal("thread/start");
  await client.call("config/value/write", { keyPath: "model", value: "offline", mergeStrategy: "replace" });
  expect((await client.call("thread/start")).model).toBe("offline");
  const next = await host.connect();
  await next.initialize();
  await next.call("thread/list");
  expect(next.told("configWarning")).toEqual([]);
});

it("[CONF-7] takes sandbox and approval policy from the configuration", async () => {
  const told = async (text: string, params: object = {}) => {
    const { client } = await stdioHost({ home: await homeWith(text), capabilities: EXPERIMENTAL });
    const { sandbox, activePermissionProfile, approvalsReviewer } = await client.call("thread/start", params);
    return [sandbox, activePermissionProfile?.id ?? null, approvalsReviewer];
  };
  const readOnly = { type: "readOnly", networkAccess: false };
  const plain = {
    type: "workspaceWrite",
    writableRoots: [],
    networkAccess: false,
    excludeTmpdirEnvVar: false,
    excludeSlashTmp: false,
  };
  const table = '[sandbox_workspace_write]\nnetwork_access = true\nwritable_roots = ["/extra"]\n';
  const more = { ...plain, networkAccess: true, writableRoots: ["/extra"] };
  const mode = 'sandbox_mode = "workspace-write"\n';
  expect(await told("")).toEqual([readOnly, ":read-only", "user"]);
  expect(await told('approvals_reviewer = "guardian_subagent"\n')).toEqual([
    readOnly,
    ":read-only",
    "auto_review",
  ]);
  expect(await told(table)).toEqual([readOnly, ":read-only", "user"]);
  expect(await told(mode + table)).toEqual([more, null, "user"]);
  const asked = { sandbox: "workspace-write", config: { "sandbox_workspace_write.exclude_slash_tmp": true } };
  expect(await told(table, asked)).toEqual([{ ...more, excludeSlashTmp: true }, null, "user"]);
  const alone = { config: { sandbox_workspace_write: { network_access: false } } };
  expect(await told(mode + table, alone)).toEqual([{ ...more, networkAccess: false }, null, "user"]);
  expect(await told(`default_permissions = ":workspace"\n${table}`)).toEqual([plain, ":workspace", "user"]);
  expect(await told('default_permissions = ":workspace"\n', { sandbox: "read-only" })).toEqual([
    readOnly,
    null,
    "user",
  ]);
  // The policy says what it can of a profile that somebody wrote.
  const own = '[permissions.dev.filesystem]\n":project_roots" = "write"\n":slash_tmp" = "write"\n';
  const dev = { ...plain, excludeTmpdirEnvVar: true };
  expect(await told(`default_permissions = "dev"\n${own}`)).toEqual([dev, "dev", "user"]);
  expect(await told(own, { permissions: "dev" })).toEqual([dev, "dev", "user"]);
  const { client } = await stdioHost({ home: await homeWith('default_permissions = ":nope"\n') });
  expect((await client.refusal("thread/start")).message).toBe(
    "failed to load configuration: default_permissions refers to unknown built-in profile `:nope`",
  );
});

it("[CONF-8] reads the configured instructions at each load", async () => {
  const base = join(await freshFolder(), "base.md");
  await writeFile(base, " BASE1 \n");
  const { client, model, threadId } = await mockHost(
    [stream(responses.stream(responses.message("ok")))],
    ['developer_instructions = "DEV1"', `model_instructions_file = ${JSON.stringify(base)}`],
  );
  const seen = async (id: string) => {
    await client.turn(id, "hi");
    const { instructions, input } = model.asked.at(-1)!.body;
    const first = input.find(({ role }: { role: string }) => role === "developer").content[0].text;
    return [instructions, first];
  };
  expect(await seen(threadId)).toEqual(["BASE1", "DEV1"]);
  const own = await client.startThread({ developerInstructions: "OWN", baseInstructions: "OWNBASE" });
  expect(await seen(own)).toEqual(["OWNBASE", "OWN"]);
  const asked = await client.startThread({ config: { developer_instructions: "ASKED" } });
  expect(await seen(asked)).toEqual(["BASE1", "ASKED"]);

  await writeFile(base, "BASE2");
  const edit = { keyPath: "developer_instructions", value: "DEV2", mergeStrategy: "replace" };
  await client.call("config/value/write", edit);
  expect(await seen(threadId)).toEqual(["BASE1", "DEV1"]);
  for (const id of [threadId, asked]) {
    await client.call("thread/unload", { threadId: id });
    expect((await client.call("thread/resume", { threadId: id })).instructionSources).toEqual([]);
  }
  expect(await seen(threadId)).toEqual(["BASE2", "DEV2"]);
  expect(await seen(asked)).toEqual(["BASE2", "ASKED"]);

  await writeFile(base, "\n");
  expect((await client.refusal("thread/start")).message).toBe(
    `failed to load configuration: model instructions file is empty: ${base}`,
  );
});

it("[CONF-8] finds a project's instructions by the configured names, up to the configured size", async () => {
  const { client } = await stdioHost({
    home: await homeWith('project_doc_fallback_filenames = ["NOTES.md"]\nproject_doc_max_bytes = 6\n'),
  });
  const cwd = await freshFolder("work");
  await writeFile(join(cwd, "NOTES.md"), "äöüß");
  expect((await client.call("thread/start", { cwd })).instructionSources).toEqual([join(cwd, "NOTES.md")]);
  await writeFile(join(cwd, "AGENTS.md"), "usual");
  expect((await client.call("thread/start", { cwd })).instructionSources).toEqual([join(cwd, "AGENTS.md")]);
  const edit = { keyPath: "project_doc_max_bytes", value: 0, mergeStrategy: "replace" };
  await client.call("config/value/write", edit);
  expect((await client.call("thread/start", { cwd })).instructionSources).toEqual([]);
});
