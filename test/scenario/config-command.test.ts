import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { runBobbin } from "../support/run-bobbin.ts";

async function stage(text?: string) {
  const home = await freshFolder();
  const file = join(home, "config.toml");
  if (text !== undefined) await writeFile(file, text);
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    runBobbin(["config", ...args], { env: { BOBBIN_HOME: home, ...env } });
  return { home, file, run, read: () => readFile(file, "utf8") };
}

it("[KEYS-7] sets, gets and removes values, and keeps comments", async () => {
  const { run, read, file } = await stage('# mine\nmodel = "x" # why\n');
  expect(await run(["set", "model", "offline"])).toMatchObject({ code: 0, stdout: `Set model: ${file}\n` });
  await run(["set", "sandbox_workspace_write.writable_roots", '["/a"]']);
  expect(await read()).toBe(
    '# mine\nmodel = "offline" # why\n\n[sandbox_workspace_write]\nwritable_roots = ["/a"]\n',
  );
  expect(await run(["get", "model"])).toMatchObject({ code: 0, stdout: "offline\n" });
  expect((await run(["get", "sandbox_workspace_write"])).stdout).toBe('{ writable_roots = ["/a"] }\n');
  expect(JSON.parse((await run(["get", "sandbox_workspace_write", "--json"])).stdout)).toEqual({
    writable_roots: ["/a"],
  });
  expect(await run(["unset", "sandbox_workspace_write"])).toMatchObject({ code: 0 });
  expect(await read()).toBe('# mine\nmodel = "offline" # why\n');
  expect(await run(["get", "sandbox_workspace_write"])).toMatchObject({ code: 1, stdout: "" });
  expect(await run(["unset", "sandbox_workspace_write"])).toMatchObject({ code: 1 });
});

it("[KEYS-7] refuses an unknown key and a value that cannot be used", async () => {
  const { run, read } = await stage("");
  const misspelled = await run(["set", "modle", "x"]);
  expect(misspelled).toMatchObject({ code: 1, stderr: expect.stringContaining("did you mean model?") });
  expect((await run(["set", "sandbox_mode", "none"])).stderr).toContain("sandbox_mode");
  expect(await read()).toBe("");
  await run(["set", "--force", "modle", "x"]);
  expect(await read()).toBe('modle = "x"\n');
});

it("[KEYS-7] lists what is set and from where, without secrets", async () => {
  const { run, file } = await stage('model = "x"\n[model_providers.p]\nexperimental_bearer_token = "abc"\n');
  const { stdout } = await run(["list", "-c", "model=y"]);
  expect(stdout.trim().split("\n").sort()).toEqual([
    'model = "y"  # -c',
    `model_providers.p.experimental_bearer_token = "*****"  # ${file}`,
  ]);
});

it("[KEYS-7] opens the file in an editor and checks it then", async () => {
  const { run, home, read } = await stage();
  const editor = join(home, "editor.sh");
  await writeFile(editor, '#!/bin/sh\necho "$1 = 1" >> "$2"\n');
  await chmod(editor, 0o755);
  expect(await run(["edit"], { EDITOR: `${editor} max_connections`, VISUAL: "" })).toMatchObject({ code: 0 });
  expect(await read()).toBe("max_connections = 1\n");
  const wrong = await run(["edit"], { VISUAL: `${editor} mac_connections` });
  expect(wrong).toMatchObject({ code: 1, stdout: expect.stringContaining("max_connections") });
});

it("[KEYS-7] prints a JSON Schema", async () => {
  const { run } = await stage();
  const { stdout } = await run(["schema"]);
  expect(JSON.parse(stdout).properties.model_provider.type).toBe("string");
});

it("[KEYS-9] reads and checks a profile with -p", async () => {
  const { run, home } = await stage('model = "x"\nmodel_verbosity = "low"\n');
  const profile = join(home, "work.config.toml");
  await writeFile(profile, 'model = "y"\n');
  expect(await run(["get", "model", "-p", "work"])).toMatchObject({ code: 0, stdout: "y\n" });
  expect(await run(["get", "model"])).toMatchObject({ code: 0, stdout: "x\n" });
  const { stdout } = await run(["list", "--profile", "work"]);
  expect(stdout.trim().split("\n")).toContain(`model = "y"  # ${profile}`);
  expect(await run(["check", "-p", "work"])).toMatchObject({ code: 0 });
  await writeFile(profile, 'modle = "y"\n');
  expect(await run(["check", "-p", "work"])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`${profile}:1:1: `),
  });
  expect(await run(["check"])).toMatchObject({ code: 0 });
  for (const command of [["get", "model"], ["list"]])
    expect(await run([...command, "-p", "nowhere"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("--profile nowhere: there is no"),
    });
  expect(await run(["check", "-p", "nowhere"])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("--profile nowhere: there is no"),
  });
});
