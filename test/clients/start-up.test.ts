// What clients ask before anyone has said a word. The wire client holds each reply against the peer's schemas.
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { markRepository } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
import type { WireClient } from "../support/wire-client.ts";

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "bobbin-start-up-"));
  folders.push(made);
  return made;
}

async function ask(config?: string, args: string[] = []): Promise<{ client: WireClient; home: string }> {
  const home = await folder();
  if (config !== undefined) await writeFile(join(home, "config.toml"), config);
  const { client } = await stdioHost({
    home,
    args,
    env: { HOME: home },
    capabilities: { experimentalApi: true },
  });
  return { client, home };
}

async function skill(root: string, name: string, text?: string): Promise<string> {
  await mkdir(join(root, name), { recursive: true });
  const path = join(root, name, "SKILL.md");
  await writeFile(path, text ?? `---\nname: ${name}\ndescription: Does ${name}.\n---\nHow.\n`);
  return path;
}

describe("a client that starts", () => {
  it("[CLIENT-1] reads that there is no account, that none is needed, and that there are no limits", async () => {
    const { client } = await ask();
    expect(await client.call("account/read", {})).toMatchObject({ account: null, requiresOpenaiAuth: false });
    const { rateLimits } = await client.call("account/rateLimits/read");
    expect(Object.values(rateLimits).every((value) => value === null)).toBe(true);
    expect(await client.call("account/bedrock/checkGovCloudRequirements", {})).toEqual({
      isGovCloud: false,
      shouldWarn: false,
    });
    expect((await client.call("configRequirements/read")).requirements).toBeNull();
  });

  it("[CLIENT-1] reads that a login is needed if the provider requires one", async () => {
    const provider = '[model_providers.x]\nname = "X"\nbase_url = "http://127.0.0.1:9/v1"\n';
    const { client, home } = await ask();
    const needed = async (flag: string): Promise<boolean> => {
      await writeFile(join(home, "config.toml"), `model_provider = "x"\n${provider}${flag}\n`);
      return (await client.call("account/read", {})).requiresOpenaiAuth;
    };
    expect(await needed("requires_openai_auth = true")).toBe(true);
    expect(await needed("requires_openai_auth = false")).toBe(false);
    expect(await needed("")).toBe(false);
  });

  it("[CLIENT-2] [CLIENT-6] reads the configuration, with every key there, and where each value is from", async () => {
    const toml =
      'model = "a"\nsandbox_mode = "read-only"\n[sandbox_workspace_write]\nnetwork_access = true\n';
    const { client, home } = await ask(toml, ["-c", "model=b"]);
    const file = join(home, "config.toml");
    const { config, origins, layers } = await client.call("config/read", { includeLayers: true });
    expect(config).toMatchObject({
      model: "b",
      sandbox_mode: "read-only",
      sandbox_workspace_write: { network_access: true, writable_roots: [] },
      approval_policy: null,
      model_provider: "offline",
      model_providers: {},
      mcp_servers: {},
    });
    expect(origins["model"].name).toEqual({ type: "sessionFlags" });
    expect(origins["sandbox_mode"].name).toEqual({ type: "user", file, profile: null });
    expect(layers.map((layer: { config: unknown }) => layer.config)).toEqual([
      { model: "b" },
      { model: "a", sandbox_mode: "read-only", sandbox_workspace_write: { network_access: true } },
    ]);
    expect((await client.call("config/read", {})).layers ?? null).toBeNull();
  });

  it("[CLIENT-3] reads values that it could not decode as not set", async () => {
    const toml = 'file_opener = 7\n[tools]\nweb_search = "yes"\n[analytics]\nenabled = "maybe"\n';
    const { client } = await ask(toml);
    const { config } = await client.call("config/read", {});
    expect(config).toMatchObject({ tools: null, analytics: null, file_opener: 7 });
  });

  it("[CLIENT-4] lists the available choices, and no others", async () => {
    const { client } = await ask();
    expect(await client.call("modelProvider/capabilities/read", {})).toEqual({
      imageGeneration: false,
      webSearch: false,
    });
    expect((await client.call("collaborationMode/list", {})).data).toMatchObject([
      { mode: "plan" },
      { mode: "default" },
    ]);
    expect(await client.call("mcpServerStatus/list", {})).toEqual({ data: [], nextCursor: null });
    expect(await client.call("plugin/list", {})).toMatchObject({ marketplaces: [] });
    expect(await client.call("plugin/installed", {})).toEqual({
      marketplaces: [],
      marketplaceLoadErrors: [],
    });
    expect(await client.call("app/list", {})).toEqual({ data: [], nextCursor: null });
    const first = await client.call("permissionProfile/list", { limit: 2 });
    const rest = await client.call("permissionProfile/list", { cursor: first.nextCursor });
    expect([...first.data, ...rest.data].map(({ id }: { id: string }) => id)).toEqual([
      ":read-only",
      ":workspace",
      ":danger-full-access",
    ]);
  });

  it("[CLIENT-4] reads why configured MCP servers and hooks do not run", async () => {
    const toml = [
      '[mcp_servers.b]\nurl = "http://127.0.0.1:9/mcp?key=x"\nenabled = false',
      '[mcp_servers.a]\ncommand = "/nowhere/a"',
      '[[hooks.SessionStart]]\nmatcher = "startup"',
    ].join("\n");
    const { client } = await ask(toml);
    const { data } = await client.call("mcpServerStatus/list", {});
    expect(data).toMatchObject([
      { name: "a", runtimeStatus: "failed", httpOrigin: null, tools: {}, authStatus: "unsupported" },
      { name: "b", runtimeStatus: "disabled", httpOrigin: "http://127.0.0.1:9" },
    ]);
    const hooks = await client.call("hooks/list", { cwds: ["/a", "/b"] });
    expect(hooks.data.map((entry: { cwd: string }) => entry.cwd)).toEqual(["/a", "/b"]);
    expect(hooks.data[0]).toMatchObject({
      hooks: [],
      errors: [],
      warnings: [expect.stringContaining("hooks")],
    });
  });

  it("[CLIENT-5] finds the skills of the repository and of the user, and the errors of broken ones", async () => {
    const [repo, elsewhere] = [await folder(), await folder()];
    const sub = join(repo, "sub");
    markRepository(repo);
    const { client, home } = await ask('[[skills.config]]\nname = "off"\nenabled = false\n');
    await skill(join(repo, ".agents", "skills"), "zeta");
    await skill(join(sub, ".codex", "skills"), "alpha");
    await skill(join(home, "skills", "nested"), "off");
    await skill(join(home, "skills", ".hidden"), "hidden");
    await skill(join(home, ".agents", "skills"), "mine", "---\ndescription: |\n  Two\n  lines.\n---\n");
    const broken = await skill(join(home, "skills"), "broken", "---\nname: broken\n---\n");
    await skill(elsewhere, "linked");
    await symlink(join(elsewhere, "linked"), join(home, "skills", "linked"));
    const { data } = await client.call("skills/list", { cwds: [sub, "/"] });
    const told = data.map(({ cwd, skills }: { cwd: string; skills: Record<string, unknown>[] }) => [
      cwd,
      skills.map(({ name, scope, enabled, description }) => [name, scope, enabled, description]),
    ]);
    const own = [
      ["linked", "user", true, "Does linked."],
      ["mine", "user", true, "Two lines."],
      ["off", "user", false, "Does off."],
    ];
    expect(told).toEqual([
      [sub, [["alpha", "repo", true, "Does alpha."], ["zeta", "repo", true, "Does zeta."], ...own]],
      ["/", own],
    ]);
    expect(data[0].errors).toEqual([{ path: broken, message: expect.stringContaining("description") }]);
  });

  it("[CLIENT-5] gets the host's own folder if it names none", async () => {
    const { client } = await ask();
    expect((await client.call("skills/list", {})).data).toMatchObject([{ cwd: process.cwd(), errors: [] }]);
    expect((await client.call("hooks/list", {})).data).toMatchObject([{ cwd: process.cwd(), hooks: [] }]);
  });

  it("[CLIENT-11] starts a thread, changes it and runs a turn on a permission profile", async () => {
    const { client } = await ask();
    const started = await client.call("thread/start", { permissions: ":workspace" });
    expect(started).toMatchObject({
      sandbox: { type: "workspaceWrite" },
      activePermissionProfile: { id: ":workspace", extends: null },
    });
    const threadId = started.thread.id;
    const settings = async (from: number): Promise<unknown> => {
      const told = ({ method }: { method?: string }): boolean => method === "thread/settings/updated";
      const { sandboxPolicy, activePermissionProfile } = (await client.waitFor(told, "settings", from)).params
        .threadSettings;
      return [sandboxPolicy.type, activePermissionProfile?.id ?? null];
    };
    let from = client.frames.length;
    await client.call("thread/settings/update", { threadId, permissions: ":danger-full-access" });
    expect(await settings(from)).toEqual(["dangerFullAccess", ":danger-full-access"]);
    from = client.frames.length;
    await client.call("turn/start", { threadId, input: [], permissions: ":read-only" });
    expect(await settings(from)).toEqual(["readOnly", ":read-only"]);
    from = client.frames.length;
    // A sandbox that is asked for by itself is no profile's, even if it is the same one.
    await client.call("thread/settings/update", { threadId, sandboxPolicy: { type: "readOnly" } });
    expect(await settings(from)).toEqual(["readOnly", null]);

    expect(await client.refusal("thread/start", { permissions: ":nope" })).toMatchObject({ code: -32600 });
    const both = { permissions: ":workspace", sandbox: "read-only" };
    expect((await client.refusal("thread/start", both)).data.code).toBe("twoSandboxes");
  });
});
