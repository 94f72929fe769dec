// What trust in a folder changes: default policy and sandbox, instructions, and rules of the project.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder, markRepository } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { MockModel } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { run, say } from "../support/model-replies.ts";
import type { WireClient } from "../support/wire-client.ts";

async function stage(top: readonly string[] = []) {
  const model = await MockModel.start(say("done"));
  const { home } = await modelHome("responses", model.url, { top });
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"], env: { SHELL: "/bin/bash" } });
  const client = await host.join(undefined, { experimentalApi: true });
  const project = await freshFolder("project");
  markRepository(project);
  await mkdir(join(project, "sub"));
  return { model, home, client, project };
}

/** As the Codex TUI writes it. */
const trust = (client: WireClient, project: string, level: string) =>
  client.call("config/batchWrite", {
    edits: [{ keyPath: `projects."${project}".trust_level`, value: level, mergeStrategy: "replace" }],
    filePath: null,
    expectedVersion: null,
    reloadUserConfig: true,
  });

const started = async (client: WireClient, params: object) => {
  const { approvalPolicy, sandbox, activePermissionProfile, instructionSources } = await client.call(
    "thread/start",
    params,
  );
  return {
    policy: approvalPolicy,
    sandbox: sandbox.type,
    profile: activePermissionProfile?.id ?? null,
    sources: instructionSources.length,
  };
};

describe("trust in a folder", () => {
  it("[TRUST-1] sets policy and sandbox of new threads where nothing is configured", async () => {
    const { client, project } = await stage();
    const cwd = join(project, "sub");
    await writeFile(join(project, "AGENTS.md"), "Use tabs.");
    const unknown = { policy: "on-request", sandbox: "readOnly", profile: ":read-only", sources: 1 };
    expect(await started(client, { cwd })).toEqual(unknown);
    await trust(client, project, "trusted");
    const trusted = { policy: "on-request", sandbox: "workspaceWrite", profile: ":workspace", sources: 1 };
    expect(await started(client, { cwd })).toEqual(trusted);
    await trust(client, project, "untrusted");
    const untrusted = { policy: "untrusted", sandbox: "workspaceWrite", profile: ":workspace", sources: 0 };
    expect(await started(client, { cwd })).toEqual(untrusted);
    // What a request asks for goes first, and other folders are as they were.
    expect(await started(client, { cwd, approvalPolicy: "never", sandbox: "read-only" })).toMatchObject({
      policy: "never",
      sandbox: "readOnly",
    });
    expect(await started(client, { cwd: await freshFolder("other") })).toMatchObject({ sandbox: "readOnly" });
  });

  it("[TRUST-1] changes nothing that people chose", async () => {
    const { client, project } = await stage(['approval_policy = "never"']);
    await trust(client, project, "untrusted");
    expect(await started(client, { cwd: project })).toMatchObject({ policy: "never", sandbox: "readOnly" });
    await trust(client, project, "trusted");
    expect(await started(client, { cwd: project })).toMatchObject({
      policy: "never",
      sandbox: "workspaceWrite",
    });
  });

  it("[TRUST-2] enables its rules with the content at the load; a change causes a warning until it is trusted", async () => {
    const { model, home, client, project } = await stage(['approval_policy = "untrusted"']);
    const file = join(project, ".codex", "rules", "team.rules");
    await mkdir(join(file, ".."), { recursive: true });
    await writeFile(file, 'prefix_rule(["echo"])\n');
    await trust(client, project, "trusted");
    expect(await readFile(join(home, "config.toml"), "utf8")).toMatch(
      /trusted_rules = "sha256:[0-9a-f]{64}"/,
    );

    const { thread } = await client.call("thread/start", { cwd: project });
    model.reply(run({ cmd: "echo one" }, "call_1"), say("done"));
    await client.turn(thread.id, "go");
    expect(client.told("item/commandExecution/requestApproval")).toEqual([]);
    const warnings = () => client.told("warning").map(({ params }) => params.message as string);
    expect(warnings().filter((message) => message.includes("rules"))).toEqual([]);

    await writeFile(file, 'prefix_rule(["echo"])\nprefix_rule(["make"])\n');
    // The loaded thread keeps the rules that it was loaded with.
    model.reply(run({ cmd: "echo again" }, "call_again"), say("done"));
    await client.turn(thread.id, "go");
    expect(client.told("item/commandExecution/requestApproval")).toEqual([]);

    const { thread: next } = await client.call("thread/start", { cwd: project });
    model.reply(run({ cmd: "echo two" }, "call_2"), say("done"));
    const turnId = await client.say(next.id, "go");
    const asked = await client.waitFor(
      ({ method }) => method === "item/commandExecution/requestApproval",
      "a question",
    );
    client.send({ id: asked.id, result: { decision: "decline" } });
    await client.turnCompleted(turnId);
    const about = warnings().filter((message) => message.includes("rules"));
    expect(about).toHaveLength(1);
    expect(about[0]).toContain(`bobbin rules trust ${project}`);

    // A client can trust them by the digest that it was shown.
    const { project: shown } = await client.call("rules/list", { cwd: project });
    await client.call("config/value/write", {
      keyPath: `projects."${project}".trusted_rules`,
      value: shown.digest,
      mergeStrategy: "replace",
    });
    const before = client.told("item/commandExecution/requestApproval").length;
    model.reply(run({ cmd: "echo three" }, "call_3"), say("done"));
    await client.turn(next.id, "go");
    expect(client.told("item/commandExecution/requestApproval")).toHaveLength(before);
  });
});
