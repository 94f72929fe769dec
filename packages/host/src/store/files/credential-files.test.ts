import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fakePlatform } from "../../../../../test/simulation/fake-platform.ts";
import { simulate } from "../../../../../test/simulation/run.ts";
import { freshFolder } from "../../../../../test/support/folder.ts";
import { MemoryMachine } from "../../../../../test/support/memory-machine.ts";
import { nodePlatform } from "../../platform/node.ts";
import { CredentialFiles } from "./credential-files.ts";

it("stores each credential in a file that only its user can open", async () => {
  const home = await freshFolder();
  const files = new CredentialFiles(home, nodePlatform());
  const key = JSON.stringify(["mcp", "a/b\n"]);
  await files.write(key, "one");
  await files.write("other", "two");
  const folder = join(home, "credentials");
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  const names = await readdir(folder);
  expect(names).toHaveLength(2);
  for (const name of names) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  expect(names.map((name) => join(folder, name))).toContain(files.path(key));
});

it("locks each key by itself, and removes a credential durably", async () => {
  const machine = new MemoryMachine();
  const credentials = new CredentialFiles(machine.home, machine.platform());
  expect(await credentials.read("a")).toBeUndefined();
  await credentials.write("a", "one");
  await credentials.write("a", "two");
  expect(await credentials.read("a")).toBe("two");
  const path = credentials.path("a").slice(machine.home.length + 1);
  machine.files.taken();
  await credentials.delete("a");
  expect(machine.files.taken()).toEqual([`remove ${path} synced`]);
  expect(await credentials.exclusively("a", async () => "result")).toBe("result");
  await credentials.exclusively("b", async () => {});
  expect(machine.acquired[0]).toBe(path.replace(/\.json$/, ".lock"));
  expect(new Set(machine.acquired).size).toBe(2);
});

simulate("brings no deleted credential back after a power cut", { count: 20 }, async (world) => {
  const files = new CredentialFiles("/home", fakePlatform(world, { name: "host", alive: true }));
  await files.write("key", "secret");
  await files.write("other", "kept");
  await files.delete("key");
  world.disk.powerCut();
  const left = [await files.read("key"), await files.read("other")];
  world.check(() => expect(left).toEqual([undefined, "kept"]));
});
