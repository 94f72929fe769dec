import { lstat, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
import { MockModel, responses, stream } from "../support/mock-model.ts";
import type { WireClient } from "../support/wire-client.ts";

const TEXT = `# What I use
model = "offline" # for now

[model_providers.mine] # at home
name = "Mine"
# the big machine
base_url = "http://127.0.0.1:1/v1"
wire_api = "responses"

[desktop]
theme = "dark"
`;

async function hostOn(text: string | undefined, args: readonly string[] = []) {
  const home = await freshFolder();
  const path = join(home, "config.toml");
  if (text !== undefined) await writeFile(path, text);
  const { client, host } = await stdioHost({ home, args });
  return { client, host, home, path, read: () => readFile(path, "utf8") };
}

const write = (client: WireClient, keyPath: string, value: unknown, more: object = {}) =>
  client.call("config/value/write", { keyPath, value, mergeStrategy: "replace", ...more });

it("[CONF-1] changes a value, and nothing around it", async () => {
  const { client, path, read } = await hostOn(TEXT);
  const { layers } = await client.call("config/read", { includeLayers: true });
  const reply = await write(client, "model", "other");
  expect(reply).toEqual({
    status: "ok",
    version: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    filePath: path,
    overriddenMetadata: null,
  });
  expect(reply.version).not.toBe(layers[0].version);
  expect(await read()).toBe(TEXT.replace('model = "offline"', 'model = "other"'));
  const now = await client.call("config/read", { includeLayers: true });
  expect(now.config.model).toBe("other");
  expect(now.layers[0].version).toBe(reply.version);

  await write(client, "model", "offline");
  await write(client, "desktop", { size: 2 }, { mergeStrategy: "upsert" });
  expect(await read()).toBe(`${TEXT.trimEnd()}\nsize = 2\n`);
  await write(client, 'desktop."a.b"', [1, "two"]);
  expect(await read()).toContain('"a.b" = [');
  await write(client, "desktop", null);
  expect(await read()).not.toContain("desktop");
  expect((await client.call("config/read", {})).config.desktop).toBeNull();
});

it("[CONF-1] adds, replaces and removes a table, and keeps comments and order around it", async () => {
  const { client, read } = await hostOn(TEXT);
  await write(client, "model_providers.other", {
    base_url: "http://127.0.0.1:2",
    http_headers: { "X-A": "b" },
  });
  const added = `wire_api = "responses"

[model_providers.other]
base_url = "http://127.0.0.1:2"

[model_providers.other.http_headers]
X-A = "b"
`;
  expect(await read()).toBe(TEXT.replace('wire_api = "responses"\n', added));
  await write(client, "model_providers.other", { base_url: "http://127.0.0.1:3" });
  expect(await read()).toContain('\n\n[model_providers.other]\nbase_url = "http://127.0.0.1:3"\n\n[desktop]');
  await write(client, "model_providers.other", null);
  expect(await read()).toBe(TEXT);
});

it("[CONF-1] keeps inline tables inline", async () => {
  const { client, read } = await hostOn(
    '[model_providers]\na = { base_url = "http://127.0.0.1:1" } # mine\n',
  );
  await write(client, "model_providers.a", { base_url: "http://127.0.0.1:2" });
  expect(await read()).toBe('[model_providers]\na = { base_url = "http://127.0.0.1:2" } # mine\n');
});

it("[CONF-1] creates the file if it does not exist, and follows a symlink to it", async () => {
  const { client, read, home } = await hostOn(undefined);
  await write(client, "sandbox_mode", "workspace-write");
  expect(await read()).toBe('sandbox_mode = "workspace-write"\n');
  const elsewhere = join(await freshFolder("dotfiles"), "bobbin.toml");
  await writeFile(elsewhere, "# linked\n");
  const other = await freshFolder();
  await symlink(elsewhere, join(other, "config.toml"));
  const linked = await stdioHost({ home: other });
  await write(linked.client, "model", "x");
  expect(await readFile(elsewhere, "utf8")).toBe('# linked\nmodel = "x"\n');
  expect((await lstat(join(other, "config.toml"))).isSymbolicLink()).toBe(true);
  expect(home).not.toBe(other);
});

it("[CONF-1] leaves a file alone that is not UTF-8, and says which line is not", async () => {
  const { client, path } = await hostOn('model = "x"\n');
  const latin = Buffer.from('model = "x"\n# caf\xe9\n', "latin1");
  await writeFile(path, latin);
  const { data, message } = await client.refusal("config/value/write", {
    keyPath: "model",
    value: "y",
    mergeStrategy: "replace",
  });
  expect(data.code).toBe("badConfig");
  expect(message).toContain(`${path} cannot be read: EILSEQ: line 2 is not UTF-8 text`);
  expect(await readFile(path)).toEqual(latin);
});

it("[CONF-2] makes all edits or none", async () => {
  const { client, path, read } = await hostOn(TEXT);
  const edits = (...pairs: [string, unknown][]) => ({
    edits: pairs.map(([keyPath, value]) => ({ keyPath, value, mergeStrategy: "replace" })),
  });
  const refusal = async (params: object, code: string) => {
    const { data, message, code: wire } = await client.refusal("config/batchWrite", params);
    expect([wire, data.code, data.config_write_error_code]).toEqual([-32600, code, code]);
    return message;
  };
  const validation = "configValidationError";
  expect(await refusal(edits(["model", "a"], ["sandbox_mode", "none"]), validation)).toMatch(
    /^Invalid configuration: sandbox_mode/,
  );
  expect(await refusal(edits(["model", "a"], ["", 1]), validation)).toBe("keyPath must not be empty");
  expect(await refusal(edits(["desktop.x", [null]]), validation)).toMatch(/^invalid value/);
  expect(
    await refusal({ ...edits(["model", "a"]), filePath: "/etc/other.toml" }, "configLayerReadonly"),
  ).toBe("Only writes to the user config are allowed");
  expect(await read()).toBe(TEXT);
  const params = {
    ...edits(["model", "a"], ["desktop.theme", null]),
    filePath: path,
    reloadUserConfig: true,
  };
  expect(await client.call("config/batchWrite", params)).toMatchObject({ status: "ok" });
  expect(await read()).toBe(TEXT.replace('"offline"', '"a"').replace('theme = "dark"\n', ""));
  expect(await client.call("config/batchWrite", { edits: [] })).toMatchObject({ status: "ok" });
});

it("[CONF-2] does not overwrite a file that it cannot read", async () => {
  const { client, path, read } = await hostOn(TEXT);
  await writeFile(path, "model = [");
  const { data } = await client.refusal("config/value/write", {
    keyPath: "model",
    value: "a",
    mergeStrategy: "replace",
  });
  expect(data.code).toBe("badConfig");
  expect(await read()).toBe("model = [");
});

it("[CONF-3] refuses a write on an older version, and says what overrides one", async () => {
  const { client, read } = await hostOn(TEXT, ["-c", "model=offline"]);
  const first = await write(client, "desktop.theme", "light");
  const stale = { keyPath: "model", value: "b", mergeStrategy: "replace", expectedVersion: first.version };
  const second = await client.call("config/value/write", stale);
  expect(second).toMatchObject({
    status: "okOverridden",
    overriddenMetadata: {
      message: "Overridden by session flags",
      overridingLayer: { name: { type: "sessionFlags" } },
      effectiveValue: "offline",
    },
  });
  const conflict = await client.refusal("config/value/write", stale);
  expect(conflict).toMatchObject({
    message: "Configuration was modified since last read. Fetch latest version and retry.",
    data: {
      code: "configVersionConflict",
      retryable: true,
      config_write_error_code: "configVersionConflict",
    },
  });
  expect(await read()).toContain('model = "b" # for now');
});

it("[CONF-4] takes effect for threads that start afterwards", async () => {
  const model = await MockModel.start(stream(responses.stream(responses.message("Hello"))));
  const { client } = await hostOn('model = "offline"\n');
  const before = await client.call("thread/start", {});
  expect(before).toMatchObject({ model: "offline", modelProvider: "offline" });
  const added = { name: "Added", base_url: model.url, wire_api: "responses" };
  await client.call("config/batchWrite", {
    edits: [
      { keyPath: "model_providers.added", value: added, mergeStrategy: "upsert" },
      { keyPath: "model_provider", value: "added", mergeStrategy: "replace" },
      { keyPath: "model", value: "m-2", mergeStrategy: "replace" },
      { keyPath: "model_context_window", value: 777, mergeStrategy: "replace" },
    ],
  });
  const { thread, ...started } = await client.call("thread/start", {});
  expect(started).toMatchObject({ model: "m-2", modelProvider: "added" });
  await client.turn(thread.id, "hi");
  expect(model.asked[0]!.body.model).toBe("m-2");
  expect(client.told("thread/tokenUsage/updated").at(-1)!.params.tokenUsage.modelContextWindow).toBe(777);
  await client.turn(before.thread.id, "hi");
  expect(model.asked).toHaveLength(1);
});

it("[CONF-4] shows what new threads get, also after an edit by hand and after a write of another host", async () => {
  const { client, home, path } = await hostOn('sandbox_mode = "workspace-write"\n');
  const other = await stdioHost({ home });
  const shownAndUsed = async (): Promise<unknown> => {
    const { config } = await client.call("config/read", {});
    const { sandbox } = await client.call("thread/start", {});
    return [config.sandbox_mode, sandbox.type];
  };
  expect(await shownAndUsed()).toEqual(["workspace-write", "workspaceWrite"]);
  await write(other.client, "sandbox_mode", "read-only");
  expect(await shownAndUsed()).toEqual(["read-only", "readOnly"]);
  await writeFile(path, 'sandbox_mode = "workspace-write"\n');
  expect(await shownAndUsed()).toEqual(["workspace-write", "workspaceWrite"]);
  await write(client, "sandbox_mode", "read-only");
  await write(other.client, "sandbox_mode", "workspace-write");
  expect(await shownAndUsed()).toEqual(["workspace-write", "workspaceWrite"]);
});
