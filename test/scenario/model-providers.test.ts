import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";

const TEXT = `model_provider = "mine"
[model_providers.mine] # at home
name = "Mine"
base_url = "http://127.0.0.1:1/v1"
env_key = "MY_KEY"
[model_providers.plain]
base_url = "http://127.0.0.1:2/v1"
[model_providers.headers]
name = "With headers"
base_url = "http://127.0.0.1:3/v1"
http_headers = { a = "b" }
`;

async function hostOn(text: string, requirements?: string) {
  const home = await freshFolder();
  const path = join(home, "config.toml");
  await writeFile(path, text);
  if (requirements !== undefined) await writeFile(join(home, "requirements.toml"), requirements);
  const { client } = await stdioHost({ home });
  const write = (settings: object) => client.call("modelProvider/config/write", { settings });
  const refused = async (settings: object) => {
    const { data, message } = await client.refusal("modelProvider/config/write", { settings });
    return [data.code, data.config_write_error_code, message];
  };
  const listed = async (id: string) =>
    (await client.call("modelProvider/list", {})).data.find((one: { id: string }) => one.id === id);
  return { client, write, refused, listed, read: () => readFile(path, "utf8") };
}

it("[PROVIDER-1] lists what is configured and what is built in, and says what a client may edit", async () => {
  const { client, listed } = await hostOn(TEXT);
  const { data, ...rest } = await client.call("modelProvider/list", {});
  expect(rest).toEqual({ defaultProviderId: "mine", canChangeDefault: true });
  const ids = data.map(({ id }: { id: string }) => id);
  expect(ids).toEqual(["anthropic", "headers", "lmstudio", "mine", "offline", "ollama", "openai", "plain"]);
  expect(await listed("mine")).toEqual({
    id: "mine",
    name: "Mine",
    canEdit: true,
    baseUrl: "http://127.0.0.1:1/v1",
    settings: { type: "customGateway", auth: { mode: "environmentVariable", envKey: "MY_KEY" } },
  });
  expect(await listed("plain")).toMatchObject({ name: "plain", settings: { auth: { mode: "none" } } });
  expect(await listed("headers")).toMatchObject({
    canEdit: true,
    settings: { auth: { mode: "externallyConfigured", envKey: null } },
  });
  expect(await listed("openai")).toEqual({
    id: "openai",
    name: "OpenAI",
    canEdit: false,
    baseUrl: null,
    settings: { type: "openai" },
  });
  expect(await listed("anthropic")).toMatchObject({
    canEdit: false,
    settings: { auth: { mode: "environmentVariable", envKey: "ANTHROPIC_API_KEY" } },
  });
});

it("[PROVIDER-2] changes one key of a provider, and nothing around it", async () => {
  const { write, listed, read } = await hostOn(TEXT);
  const { provider } = await write({ type: "customGateway", providerId: "mine", name: " My own " });
  expect(provider).toMatchObject({ name: "My own", baseUrl: "http://127.0.0.1:1/v1" });
  expect(provider).toEqual(await listed("mine"));
  expect(await read()).toBe(TEXT.replace('"Mine"', '"My own"'));
  await write({ type: "customGateway", providerId: "mine", name: "Mine" });
  const { provider: keyless } = await write({ type: "customGateway", providerId: "mine", envKey: null });
  expect(keyless.settings).toEqual({ type: "customGateway", auth: { mode: "none" } });
  expect(await read()).toBe(TEXT.replace('env_key = "MY_KEY"\n', ""));
  // Nothing is changed.
  expect((await write({ type: "customGateway", providerId: "mine" })).provider).toEqual(keyless);
});

it("[PROVIDER-2] makes a provider with an id from its name, which threads can use at once", async () => {
  const { client, write, read } = await hostOn(TEXT);
  const patch = { type: "customGateway", name: "My  New-Gateway!", baseUrl: " https://n.example/v1 " };
  const { provider } = await write({ ...patch, envKey: "NEW_KEY" });
  expect(provider).toEqual({
    id: "my-new-gateway",
    name: "My  New-Gateway!",
    canEdit: true,
    baseUrl: "https://n.example/v1",
    settings: { type: "customGateway", auth: { mode: "environmentVariable", envKey: "NEW_KEY" } },
  });
  expect((await write(patch)).provider.id).toBe("my-new-gateway-2");
  expect((await write({ ...patch, name: "日本" })).provider.id).toBe("custom");
  expect(await read()).toContain("[model_providers.my-new-gateway]");
  const { modelProvider } = await client.call("thread/start", { modelProvider: "my-new-gateway" });
  expect(modelProvider).toBe("my-new-gateway");
});

it("[PROVIDER-3] refuses what cannot be written, with the codes that clients of the Codex CLI read", async () => {
  const { refused, read } = await hostOn(TEXT);
  const invalid = (message: string) => ["configValidationError", "configValidationError", message];
  const url = "baseUrl must be an http or https address without credentials, query and fragment";
  const mine = { type: "customGateway", providerId: "mine" };
  for (const baseUrl of ["ftp://x", "http://u:p@x/v1", "http://x/v1?q", "http://x/#f", "x"])
    expect(await refused({ ...mine, baseUrl }), baseUrl).toEqual(invalid(url));
  expect(await refused({ ...mine, name: " " })).toEqual(invalid("name must not be empty"));
  for (const envKey of ["", "a b", "1A"])
    expect(await refused({ ...mine, envKey }), envKey).toEqual(
      invalid("envKey must be the name of an environment variable: letters, digits and _"),
    );
  expect(await refused({ ...mine, providerId: "headers", envKey: "K" })).toEqual(
    invalid("the provider authenticates by other settings than env_key; leave envKey out to keep them"),
  );
  for (const providerId of ["openai", "ollama", "offline"])
    expect(await refused({ ...mine, providerId, name: "x" })).toEqual(
      invalid("providerId names a built-in provider, which cannot be changed"),
    );
  expect(await refused({ ...mine, providerId: "none", name: "x" })).toEqual([
    "configPathNotFound",
    "configPathNotFound",
    "config.toml has no provider with this providerId",
  ]);
  const made = { type: "customGateway", name: "New", baseUrl: "http://x/v1" };
  expect(await refused({ ...made, name: undefined })).toEqual(invalid("name must not be empty"));
  expect(await refused({ ...made, baseUrl: undefined })).toEqual(
    invalid("baseUrl is required for a new provider"),
  );
  expect((await refused({ ...made, name: "OpenAI" }))[2]).toMatch(/a built-in provider has this name/);
  expect(await refused({ type: "bedrock", providerId: "amazon-bedrock", region: "r" })).toEqual(
    invalid("Bobbin has no model provider amazon-bedrock."),
  );
  expect((await refused({ type: "gcp", providerId: "gcp" }))[0]).toBe("configValidationError");
  expect(await read()).toBe(TEXT);
});

it("[MODEL-8] lists the models of a provider that a client names", async () => {
  const { client } = await hostOn('model_provider = "offline"\n');
  const { data } = await client.call("model/list", { modelProvider: "openai" });
  expect(data.map(({ id }: { id: string }) => id)).toContain("gpt-5.5");
  expect((await client.call("model/list", { modelProvider: null })).data[0].id).toBe("offline");
  expect((await client.refusal("model/list", { modelProvider: "none" })).data).toMatchObject({
    code: "modelProviderNotConfigured",
    type: "modelProviderNotConfigured",
    modelProvider: "none",
  });
});
