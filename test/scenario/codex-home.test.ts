import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";

it("[HOME-2] serves a client that isolates by CODEX_HOME: a home of its own in it, and the config.toml of that folder", async () => {
  const folder = await freshFolder("codex");
  const file = join(folder, "config.toml");
  await writeFile(join(folder, "base.md"), "BASE");
  await writeFile(
    file,
    '# theirs\nmodel = "offline"\napproval_policy = "never"\nmodel_instructions_file = "base.md"\n',
  );
  const env = { BOBBIN_HOME: "", CODEX_HOME: folder };
  const { client } = await stdioHost({ env });
  const { thread, approvalPolicy } = await client.call("thread/start");
  expect(approvalPolicy).toBe("never");
  expect(thread.path).toMatch(new RegExp(`^${join(folder, "bobbin", "sessions")}/`));
  const edit = { keyPath: "model_verbosity", value: "low", mergeStrategy: "replace" };
  expect(await client.call("config/value/write", edit)).toMatchObject({ status: "ok", filePath: file });
  expect(await readFile(file, "utf8")).toMatch(/^# theirs\n.*model_verbosity = "low"\n$/s);
  expect((await readdir(folder)).sort()).toEqual(["base.md", "bobbin", "config.toml"]);
  const layers = (await client.call("config/read", { includeLayers: true })).layers;
  expect(layers[0].name).toEqual({ type: "user", file, profile: null });
});

it("[HOME-2] keeps threads of two such clients apart", async () => {
  const hosts = await Promise.all(
    ["one", "two"].map(async (name) =>
      stdioHost({ env: { BOBBIN_HOME: "", CODEX_HOME: await freshFolder(name) } }),
    ),
  );
  const threadId = await hosts[0]!.client.startThread();
  await hosts[0]!.client.turn(threadId, "hi");
  expect((await hosts[0]!.client.call("thread/list")).data).toHaveLength(1);
  expect((await hosts[1]!.client.call("thread/list")).data).toEqual([]);
});
