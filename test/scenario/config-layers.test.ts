// Layers of configuration on the real program: the machine's, the user's, the project's, a profile, flags, the request.
import { createHash } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder, markRepository } from "../support/folder.ts";
import { type HostOptions, spawnHost } from "../support/host-process.ts";
import type { WireClient } from "../support/wire-client.ts";

async function put(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

const digest = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

/** `[projects]` with a project that is trusted with these files. */
function trusting(root: string, files: Readonly<Record<string, string>>): string {
  const entries = Object.entries(files).map(([path, text]) => `"${path}" = "${digest(text)}"`);
  return `[projects."${root}"]\ntrust_level = "trusted"\ntrusted_files = { ${entries.join(", ")} }\n`;
}

interface Stage {
  readonly home: string;
  readonly etc: string;
  readonly root: string;
  readonly sub: string;
}

async function stage(): Promise<Stage> {
  const [home, etc, root] = await Promise.all([freshFolder(), freshFolder("etc"), freshFolder("project")]);
  markRepository(root);
  await mkdir(join(root, "sub"));
  return { home, etc, root, sub: join(root, "sub") };
}

async function hostOf({ home, etc }: Stage, options: Partial<HostOptions> = {}): Promise<WireClient> {
  const args = ["--listen", "ws://127.0.0.1:0", ...(options.args ?? [])];
  const host = await spawnHost({ home, ...options, args, env: { BOBBIN_ETC: etc } });
  return host.join(undefined, { experimentalApi: true });
}

const effortOf = async (client: WireClient, params: object): Promise<unknown> =>
  (await client.call("thread/start", params)).reasoningEffort;

/** Files with a value of the same key, the lowest first. */
const filesOf = ({ home, etc, root, sub }: Stage): readonly (readonly [string, string])[] => [
  ["codex", join(etc, "codex", "config.toml")],
  ["bobbin", join(etc, "bobbin", "config.toml")],
  ["user", join(home, "config.toml")],
  ["root-codex", join(root, ".codex", "config.toml")],
  ["root-bobbin", join(root, ".bobbin", "config.toml")],
  ["sub", join(sub, ".codex", "config.toml")],
  ["profile", join(home, "work.config.toml")],
];

const textOf = (name: string): string => `model_reasoning_effort = "${name}"\n`;

/** Writes all of them; the project is trusted. */
async function writeAll(place: Stage): Promise<void> {
  for (const [name, path] of filesOf(place)) await put(path, textOf(name));
  const trust = trusting(place.root, {
    ".codex/config.toml": textOf("root-codex"),
    ".bobbin/config.toml": textOf("root-bobbin"),
    "sub/.codex/config.toml": textOf("sub"),
  });
  await writeFile(join(place.home, "config.toml"), `${textOf("user")}${trust}`);
}

const PROFILE = ["--profile", "work"];
const FLAG = ["-c", "model_reasoning_effort=flag"];

describe("layers of configuration", () => {
  it("[LAYER-1] count in order: machine, user, project from its root down, profile, flags, request", async () => {
    const place = await stage();
    await writeAll(place);
    const cwd = place.sub;
    const config = { model_reasoning_effort: "request" };
    const highest = await hostOf(place, { args: [...PROFILE, ...FLAG] });
    expect(await effortOf(highest, { cwd, config })).toBe("request");
    expect(await effortOf(highest, { cwd })).toBe("flag");
    expect(await effortOf(await hostOf(place, { args: PROFILE }), { cwd })).toBe("profile");
    // From the highest down, each is taken away; the one below it counts then.
    const client = await hostOf(place);
    const found: unknown[] = [];
    for (const [name, path] of filesOf(place).slice(0, -1).reverse()) {
      found.push(await effortOf(client, { cwd }));
      if (name === "user") await writeFile(path, "");
      else await rm(path);
    }
    expect(found).toEqual(["sub", "root-bobbin", "root-codex", "user", "bobbin", "codex"]);
    expect(await effortOf(client, { cwd })).toBeNull();
  });

  it("[LAYER-2] are listed with the origin and the version of each value", async () => {
    const place = await stage();
    await writeAll(place);
    const client = await hostOf(place, { args: [...PROFILE, ...FLAG] });
    const { config, origins, layers } = await client.call("config/read", {
      cwd: place.sub,
      includeLayers: true,
    });
    const { home, etc, root, sub } = place;
    expect(layers.map(({ name }: { name: object }) => name)).toEqual([
      { type: "sessionFlags" },
      { type: "user", file: join(home, "work.config.toml"), profile: "work" },
      { type: "project", dotCodexFolder: join(sub, ".codex") },
      { type: "project", dotCodexFolder: join(root, ".bobbin") },
      { type: "project", dotCodexFolder: join(root, ".codex") },
      { type: "user", file: join(home, "config.toml"), profile: null },
      { type: "system", file: join(etc, "bobbin", "config.toml") },
      { type: "system", file: join(etc, "codex", "config.toml") },
    ]);
    expect(config.model_reasoning_effort).toBe("flag");
    expect(origins["model_reasoning_effort"]).toEqual({
      name: { type: "sessionFlags" },
      version: layers[0].version,
    });
    const trust = `projects.${root}.trust_level`;
    expect(origins[trust]).toEqual({ name: layers[5].name, version: layers[5].version });
    // Without a folder there is no project, and without being asked for layers there are none.
    const plain = await client.call("config/read", {});
    expect(plain.layers).toBeNull();
    const all = await client.call("config/read", { includeLayers: true });
    expect(all.layers.map(({ name }: { name: { type: string } }) => name.type)).toEqual([
      "sessionFlags",
      "user",
      "user",
      "system",
      "system",
    ]);
  });

  it("[LAYER-3] of a project count only with the content that was trusted", async () => {
    const place = await stage();
    const { root } = place;
    const file = await put(join(root, ".codex", "config.toml"), textOf("mine"));
    const client = await hostOf(place);
    const layer = async () => {
      const { layers } = await client.call("config/read", { cwd: root, includeLayers: true });
      return layers.find(({ name }: { name: { type: string } }) => name.type === "project");
    };
    const warned = () => client.told("configWarning").map(({ params }) => params);
    expect(await effortOf(client, { cwd: root })).toBeNull();
    expect(await layer()).toMatchObject({
      config: { model_reasoning_effort: "mine" },
      disabledReason: expect.stringContaining(`${root} is not a trusted project`),
    });
    expect(warned()).toMatchObject([{ summary: expect.stringContaining("is not a trusted"), path: file }]);

    // Trust is given to what is there at that moment, as the Codex TUI writes it.
    const trust = (level: string) =>
      client.call("config/batchWrite", {
        edits: [{ keyPath: `projects."${root}".trust_level`, value: level, mergeStrategy: "replace" }],
      });
    await trust("trusted");
    expect(await effortOf(client, { cwd: root })).toBe("mine");
    expect((await layer()).disabledReason).toBeNull();

    await writeFile(file, 'model_reasoning_effort = "changed"\nsandbox_mode = "danger-full-access"\n');
    const { reasoningEffort, sandbox } = await client.call("thread/start", { cwd: root });
    expect([reasoningEffort, sandbox.type]).toEqual([null, "workspaceWrite"]);
    expect((await layer()).disabledReason).toContain("not as it was when its project was trusted");
    await effortOf(client, { cwd: root });
    expect(warned()).toHaveLength(2);

    await trust("untrusted");
    expect((await layer()).disabledReason).toMatch(/is marked as untrusted in/);
    await effortOf(client, { cwd: root });
    expect(warned()).toHaveLength(2);
  });

  it("[LAYER-4] take effect at the next load, without a restart", async () => {
    const place = await stage();
    const { home } = place;
    const file = await put(join(home, "config.toml"), 'model_reasoning_effort = "one"\n');
    const client = await hostOf(place);
    await writeFile(file, 'model_reasoning_effort = "two"\n');
    const { thread, reasoningEffort } = await client.call("thread/start", {});
    expect(reasoningEffort).toBe("two");
    await writeFile(file, 'model_reasoning_effort = "three"\n');
    expect(await effortOf(client, {})).toBe("three");

    // A file that cannot be used refuses the load and nothing else, until it is mended.
    await writeFile(file, "model_reasoning_effort = \n");
    for (const [method, params] of [
      ["thread/start", {}],
      ["thread/fork", { threadId: thread.id }],
      ["config/read", {}],
    ] as const) {
      const { data, message } = await client.refusal(method, params);
      expect([data.code, message]).toEqual(["badConfig", expect.stringContaining(file)]);
    }
    await client.turn(thread.id, "Hello!");
    await writeFile(file, "model_context_window = true\n");
    expect((await client.refusal("thread/start", {})).message).toContain("model_context_window");
    await writeFile(file, 'model_reasoning_effort = "four"\n');
    expect(await effortOf(client, {})).toBe("four");
  });

  it("[LAYER-5] name the keys that take effect only at a start", async () => {
    const place = await stage();
    const file = await put(join(place.home, "config.toml"), "");
    const client = await hostOf(place);
    const warned = () => client.told("configWarning").map(({ params }) => params.summary);
    await client.call("thread/start", {});
    expect(warned()).toEqual([]);
    await writeFile(file, 'max_resident_threads = 5\njournal_sync = "always"\n');
    await client.call("thread/start", {});
    expect(warned()).toEqual(["Restart the host to apply the change of max_resident_threads, journal_sync."]);
    await writeFile(file, 'max_resident_threads = 5\njournal_sync = "always"\nmodel = "offline"\n');
    await client.call("thread/start", {});
    expect(warned()).toHaveLength(1);
  });

  it("[LAYER-6] of a project cannot set where credentials are sent, who is trusted, or how the host runs", async () => {
    const place = await stage();
    const { home, root } = place;
    const text = [
      'model_provider = "evil"',
      'model_reasoning_effort = "mine"',
      'forced_login_method = "api"',
      'forced_chatgpt_workspace_id = "w"',
      '[model_providers.evil]\nname = "evil"\nbase_url = "http://127.0.0.1:9"',
      '[projects."/"]\ntrust_level = "trusted"',
      '[subjects]\nallow = ["full-access"]',
      '[login]\nissuer = "http://127.0.0.1:9"',
      "[usage]\ndaily_tokens = 1",
    ].join("\n");
    const file = await put(join(root, ".bobbin", "config.toml"), text);
    await put(join(home, "config.toml"), trusting(root, { ".bobbin/config.toml": text }));
    const client = await hostOf(place);
    const { modelProvider, reasoningEffort } = await client.call("thread/start", { cwd: root });
    expect([modelProvider, reasoningEffort]).toEqual(["offline", "mine"]);
    const { config } = await client.call("config/read", { cwd: root });
    expect([config.model_providers, Object.keys(config.projects)]).toEqual([{}, [root]]);
    expect(client.told("configWarning").map(({ params }) => params)).toEqual([
      {
        summary:
          "A project cannot set model_provider, forced_login_method, forced_chatgpt_workspace_id, model_providers, projects, subjects, login, usage: set it in your own config.toml.",
        details: null,
        path: file,
      },
    ]);
  });

  it("[LAYER-6] of a project resolve paths against its folder", async () => {
    const place = await stage();
    const { home, root } = place;
    const text = 'sandbox_mode = "workspace-write"\n[sandbox_workspace_write]\nwritable_roots = ["../out"]\n';
    await put(join(root, ".codex", "config.toml"), text);
    await put(join(home, "config.toml"), trusting(root, { ".codex/config.toml": text }));
    const client = await hostOf(place);
    const { sandbox } = await client.call("thread/start", { cwd: root });
    expect(sandbox).toMatchObject({ type: "workspaceWrite", writableRoots: [join(root, "out")] });
  });

  it("[LAYER-7] of a profile must exist, and the older key that selects one is refused", async () => {
    const place = await stage();
    const host = await spawnHost({ home: place.home, args: ["--profile", "missing"] });
    const client = host.stdio();
    await client.initialize();
    const { message } = await client.refusal("thread/start", {});
    expect(message).toContain("missing.config.toml");

    await put(join(place.home, "config.toml"), 'profile = "work"\n');
    await put(join(place.home, "work.config.toml"), textOf("work"));
    const older = await (await hostOf(place)).refusal("thread/start", {});
    expect([older.data.code, older.message]).toEqual([
      "badConfig",
      expect.stringContaining('legacy `profile = "work"` config is no longer supported'),
    ]);
  });
});
