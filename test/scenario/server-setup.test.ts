// How a host is set up: keys, sandbox, and warnings about the configuration.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ServerSetupReadResponse } from "@bobbin/protocol";
import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";

const CONFIG = `
modle = "misspelled"
model = "one"
model_provider = "env"
cli_auth_credentials_store = "file"
[model_providers.env]
name = "From the environment"
base_url = "http://127.0.0.1:9/v1"
env_key = "SETUP_TEST_KEY"
[model_providers.unset]
name = "Not set"
base_url = "http://127.0.0.1:9/v1"
env_key = "SETUP_TEST_UNSET"
[model_providers.file]
name = "In the file"
base_url = "http://127.0.0.1:9/v1"
experimental_bearer_token = "very-secret-token"
[model_providers.free]
name = "Free"
base_url = "http://127.0.0.1:9/v1"
`;

it("[CONSOLE-28] server/setup/read says where keys come from, and sends none", async () => {
  const home = await freshFolder("home");
  await writeFile(join(home, "config.toml"), CONFIG);
  const host = await spawnHost({ home, env: { SETUP_TEST_KEY: "very-secret-variable" } });
  const client = host.stdio();
  await client.initialize({ experimentalApi: true });
  await client.call("account/login/start", { type: "apiKey", apiKey: "very-secret-stored" });
  const setup = (await client.call("server/setup/read", {})) as ServerSetupReadResponse;
  const provider = (id: string) => setup.providers.find((one) => one.id === id);
  expect(provider("env")).toEqual({
    id: "env",
    name: "From the environment",
    isDefault: true,
    key: "environment",
    variable: "SETUP_TEST_KEY",
    storedIn: null,
  });
  expect(provider("unset")).toMatchObject({ key: "missing", variable: "SETUP_TEST_UNSET", isDefault: false });
  expect(provider("file")).toMatchObject({ key: "config", variable: null });
  expect(provider("free")).toMatchObject({ key: "notNeeded" });
  expect(provider("openai")).toMatchObject({ key: "stored", storedIn: "file" });
  expect(JSON.stringify(setup)).not.toContain("very-secret");
  expect(setup.configWarnings).toEqual([expect.stringContaining("modle")]);
  const { name, problem, advice } = setup.sandbox;
  expect(name).toBe(process.platform === "linux" ? "bubblewrap" : "sandbox-exec");
  expect(problem === null).toBe(advice === null);
});

it("[CONSOLE-28] server/setup/read says why commands cannot be confined", async () => {
  const host = await spawnHost({ env: { PATH: "/nowhere" } });
  const client = host.stdio();
  await client.initialize({ experimentalApi: true });
  const { sandbox } = (await client.call("server/setup/read", {})) as ServerSetupReadResponse;
  expect(sandbox.problem).not.toBeNull();
  expect(sandbox.advice).not.toBeNull();
});
