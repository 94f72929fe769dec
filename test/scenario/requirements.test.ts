// What an administrator requires of the configuration, on the real program.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { MockModel } from "../support/mock-model.ts";
import { say } from "../support/model-replies.ts";
import type { WireClient } from "../support/wire-client.ts";

interface Stage {
  readonly home: string;
  readonly etc: string;
  readonly client: WireClient;
}

/** A host with these files; `system` is the machine's. */
async function stage(files: { config?: string; home?: string; system?: string }): Promise<Stage> {
  const [home, etc] = await Promise.all([freshFolder(), freshFolder("etc")]);
  await mkdir(join(etc, "codex"));
  await writeFile(join(home, "config.toml"), files.config ?? "");
  if (files.home !== undefined) await writeFile(join(home, "requirements.toml"), files.home);
  if (files.system !== undefined) await writeFile(join(etc, "codex", "requirements.toml"), files.system);
  const env = { BOBBIN_ETC: etc, OPENAI_API_KEY: "sk-test" };
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"], env });
  return { home, etc, client: await host.join(undefined, { experimentalApi: true }) };
}

const LISTS = `
allowed_approval_policies = ["untrusted", "on-request"]
allowed_approvals_reviewers = ["user"]
allowed_sandbox_modes = ["read-only", "workspace-write"]
allowed_web_search_modes = ["cached"]
`;

const codeOf = async (client: WireClient, method: string, params: object): Promise<unknown> =>
  (await client.refusal(method, params)).data.code;

const write = (keyPath: string, value: unknown) => ({ keyPath, value, mergeStrategy: "replace" });

describe("requirements.toml", () => {
  it("[REQ-1] is shown, the machine's above the home's", async () => {
    const { client } = await stage({
      home: `${LISTS}enforce_residency = "us"\n`,
      system:
        'allowed_sandbox_modes = ["read-only"]\nchatgpt_base_url = "https://managed.example/"\n[features]\nmemories = true\n[feedback]\nenabled = false\n',
    });
    const { requirements } = await client.call("configRequirements/read");
    expect(requirements).toMatchObject({
      allowedApprovalPolicies: ["untrusted", "on-request"],
      allowedApprovalsReviewers: ["user"],
      allowedSandboxModes: ["read-only"],
      allowedWebSearchModes: ["cached", "disabled"],
      featureRequirements: { memories: true },
      enforceResidency: "us",
      chatgptBaseUrl: "https://managed.example/",
      feedback: { enabled: false },
      modelProvider: null,
    });
    const none = await stage({});
    expect((await none.client.call("configRequirements/read")).requirements).toBeNull();
  });

  it("[REQ-2] refuses disallowed settings of a request, each with its own code", async () => {
    const { client } = await stage({ home: LISTS });
    const { thread } = await client.call("thread/start", {
      approvalPolicy: "untrusted",
      sandbox: "read-only",
    });
    const threadId = thread.id;
    // Only a load that loads something takes settings.
    const unloaded = await client.startThread({});
    await client.turn(unloaded, "Hello!");
    await client.call("thread/unload", { threadId: unloaded });
    const input = [{ type: "text", text: "Hello!" }];
    for (const [asked, code] of [
      [{ approvalPolicy: "never" }, "approvalPolicyNotAllowed"],
      [{ config: { approval_policy: "never" } }, "approvalPolicyNotAllowed"],
      [{ approvalsReviewer: "auto_review" }, "approvalsReviewerNotAllowed"],
      [{ sandbox: "danger-full-access" }, "sandboxModeNotAllowed"],
      [{ permissions: ":danger-full-access" }, "sandboxModeNotAllowed"],
      [{ config: { sandbox_mode: "danger-full-access" } }, "sandboxModeNotAllowed"],
    ] as const) {
      expect(await codeOf(client, "thread/start", asked)).toBe(code);
      expect(await codeOf(client, "thread/resume", { threadId: unloaded, ...asked })).toBe(code);
    }
    const full = { sandboxPolicy: { type: "dangerFullAccess" } };
    expect(await codeOf(client, "turn/start", { threadId, input, ...full })).toBe("sandboxModeNotAllowed");
    expect(await codeOf(client, "turn/start", { threadId, input, approvalPolicy: "never" })).toBe(
      "approvalPolicyNotAllowed",
    );
    expect(await codeOf(client, "thread/settings/update", { threadId, ...full })).toBe(
      "sandboxModeNotAllowed",
    );
    expect(await codeOf(client, "command/exec", { command: ["true"], ...full })).toBe(
      "sandboxModeNotAllowed",
    );
  });

  it("[REQ-2] [REQ-3] [REQ-4] takes a profile that writes to any file for what it is", async () => {
    // Its policy in the protocol is `readOnly`: it does not write to the workspace.
    const profile = '[permissions.mine.filesystem]\n":root" = "read"\n"/srv" = "write"\n';
    const config = `default_permissions = "mine"\n${profile}[permissions.reader.filesystem]\n":root" = "read"\n`;
    const { home, client } = await stage({ config, home: 'allowed_sandbox_modes = ["read-only"]\n' });
    const { sandbox, activePermissionProfile, thread } = await client.call("thread/start", {});
    expect([sandbox.type, activePermissionProfile]).toEqual(["readOnly", null]);
    expect(client.told("configWarning").map(({ params }) => params.summary)).toEqual([
      'sandbox_mode = "workspace-write" is not allowed by requirements.toml; "read-only" is used.',
    ]);
    const asked = { permissions: "mine" };
    expect(await codeOf(client, "thread/start", asked)).toBe("sandboxModeNotAllowed");
    const exec = { command: ["true"], permissionProfile: "mine" };
    expect(await codeOf(client, "command/exec", exec)).toBe("sandboxModeNotAllowed");
    expect(await codeOf(client, "config/value/write", write("default_permissions", "mine"))).toBe(
      "sandboxModeNotAllowed",
    );
    const { data } = await client.call("permissionProfile/list", {});
    const allowed = data.filter((one: { allowed: boolean }) => one.allowed);
    expect(allowed.map(({ id }: { id: string }) => id)).toEqual([":read-only", "reader"]);
    // A profile that only reads is allowed, until it is changed.
    await client.call("thread/settings/update", { threadId: thread.id, permissions: "reader" });
    await client.turn(thread.id, "Hello!");
    const own = '[permissions.reader.filesystem]\n":root" = "write"\n';
    await writeFile(join(home, "config.toml"), own);
    await client.call("thread/unload", { threadId: thread.id });
    const resumed = await client.call("thread/resume", { threadId: thread.id });
    expect([resumed.sandbox.type, resumed.activePermissionProfile]).toEqual(["readOnly", null]);
  });

  it("[REQ-3] replaces disallowed values of the configuration, and says so", async () => {
    const config =
      'approval_policy = "never"\nsandbox_mode = "danger-full-access"\nweb_search = "live"\napprovals_reviewer = "auto_review"\n';
    const { home, client } = await stage({ config, home: `${LISTS}allow_appshots = false\n` });
    const { approvalPolicy, sandbox, approvalsReviewer, thread } = await client.call("thread/start", {});
    expect([approvalPolicy, sandbox.type, approvalsReviewer]).toEqual([
      "untrusted",
      "workspaceWrite",
      "user",
    ]);
    expect(client.told("configWarning").map(({ params }) => params.summary)).toEqual([
      'approval_policy = "never" is not allowed by requirements.toml; "untrusted" is used.',
      'sandbox_mode = "danger-full-access" is not allowed by requirements.toml; "workspace-write" is used.',
      'web_search = "live" is not allowed by requirements.toml; "disabled" is used.',
      "requirements.toml: this host does not enforce allow_appshots.",
    ]);
    // Stricter requirements count for what is loaded next, threads of before included.
    await client.turn(thread.id, "Hello!");
    await client.call("thread/unload", { threadId: thread.id });
    await writeFile(
      join(home, "requirements.toml"),
      'allowed_sandbox_modes = ["read-only"]\nallowed_approval_policies = ["on-request"]\n',
    );
    const resumed = await client.call("thread/resume", { threadId: thread.id });
    expect([resumed.approvalPolicy, resumed.sandbox.type]).toEqual(["on-request", "readOnly"]);
    await writeFile(join(home, "requirements.toml"), 'allowed_sandbox_modes = ["workspace-write"]\n');
    const { message } = await client.refusal("thread/start", {});
    expect(message).toContain("requirements.toml: allowed_sandbox_modes has to include");
  });

  it("[REQ-4] refuses to write managed, pinned or disallowed values", async () => {
    const required = `${LISTS}chatgpt_base_url = "https://managed.example/"\n[features]\nmemories = true\n[feedback]\nenabled = false\n`;
    const config = 'model_verbosity = "low"\n[feedback]\nenabled = true\n';
    const { home, client } = await stage({ config, home: required });
    for (const [keyPath, value, code, writeCode] of [
      ["chatgpt_base_url", "https://other/", "configRequirementReadonly", "configRequirementReadonly"],
      ["feedback.enabled", true, "configRequirementReadonly", "configRequirementReadonly"],
      ["feedback", { enabled: true }, "configRequirementReadonly", "configRequirementReadonly"],
      ["features.memories", false, "featurePinned", "configValidationError"],
      ["features", { memories: false }, "featurePinned", "configValidationError"],
      ["approval_policy", "never", "approvalPolicyNotAllowed", "configValidationError"],
      ["sandbox_mode", "danger-full-access", "sandboxModeNotAllowed", "configValidationError"],
      ["default_permissions", ":danger-full-access", "sandboxModeNotAllowed", "configValidationError"],
      ["web_search", "live", "webSearchModeNotAllowed", "configValidationError"],
      ["approvals_reviewer", "auto_review", "approvalsReviewerNotAllowed", "configValidationError"],
    ] as const) {
      const { data } = await client.refusal("config/value/write", write(keyPath, value));
      expect([keyPath, data.code, data.config_write_error_code]).toEqual([keyPath, code, writeCode]);
      const edits = [write("model_verbosity", "high"), write(keyPath, value)];
      expect(await codeOf(client, "config/batchWrite", { edits })).toBe(code);
    }
    expect(await readFile(join(home, "config.toml"), "utf8")).toBe(config);
    await client.call("config/value/write", write("approval_policy", "untrusted"));
    const { config: read, origins } = await client.call("config/read", {});
    expect([read.chatgpt_base_url, read.feedback, read.features.memories]).toEqual([
      "https://managed.example/",
      { enabled: false },
      true,
    ]);
    expect(Object.keys(origins).sort()).toEqual(["approval_policy", "model_verbosity"]);
    expect(await codeOf(client, "feedback/upload", { classification: "bug", includeLogs: false })).toBe(
      "feedbackDisabled",
    );
  });

  it("[REQ-2] counts beside a config.toml that cannot be used", async () => {
    const { client } = await stage({ config: "model = = 3\n", home: LISTS });
    const full = { sandboxPolicy: { type: "dangerFullAccess" } };
    expect(await codeOf(client, "command/exec", { command: ["true"], ...full })).toBe(
      "sandboxModeNotAllowed",
    );
  });

  it("[REQ-9] refuses logins of a kind that is not allowed, whatever is configured", async () => {
    const config = 'forced_login_method = "chatgpt"\n';
    const { client } = await stage({ config, home: 'allowed_login_methods = ["api"]\n' });
    const { requirements } = await client.call("configRequirements/read");
    expect(requirements.allowedLoginMethods).toEqual(["api"]);
    expect(await codeOf(client, "account/login/start", { type: "chatgpt" })).toBe("chatgptLoginDisabled");
    await client.call("account/login/start", { type: "apiKey", apiKey: "sk-mine" });
    await client.startThread({});
    expect(client.told("configWarning").map(({ params }) => params.summary)).toEqual([
      'forced_login_method = "chatgpt" is not allowed by requirements.toml; "api" is used.',
    ]);
  });

  it("[REQ-5] makes requests to models name the required region", async () => {
    const model = await MockModel.start(say("done"));
    const config = `model_provider = "mine"\nmodel = "mock"\n[model_providers.mine]\nname = "mine"\nbase_url = "${model.url}/v1"\nrequires_openai_auth = true\nhttp_headers = { "X-OpenAI-Internal-Codex-Residency" = "eu" }\n`;
    const { client } = await stage({ config, home: 'enforce_residency = "us"\n' });
    const threadId = await client.startThread({});
    await client.turn(threadId, "Hello!");
    expect(model.asked[0]!.headers["x-openai-internal-codex-residency"]).toBe("us");
  });
});
