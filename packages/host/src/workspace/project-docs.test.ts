import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../../../../test/support/folder.ts";
import { nodeFiles } from "../platform/node-files.ts";
import { readProjectDocs } from "./project-docs.ts";

const SETTINGS = { maxBytes: 1000, fallbackNames: ["OTHER.md"] };

async function stage() {
  const folder = await freshFolder();
  const [home, cwd] = [join(folder, "home"), join(folder, "cwd")];
  for (const path of [home, cwd]) await mkdir(path);
  const texts = async () => (await readProjectDocs(nodeFiles(), home, cwd, SETTINGS)).map(({ text }) => text);
  return { home, cwd, texts };
}

it("[LIFE-18] are read from the home and from the workspace, also behind a link", async () => {
  const { home, cwd, texts } = await stage();
  await writeFile(join(home, "AGENTS.md"), "mine");
  await writeFile(join(cwd, "README.md"), "the project's");
  await symlink("README.md", join(cwd, "AGENTS.md"));
  expect(await texts()).toEqual(["mine", "the project's"]);
});

it.each([
  ["the home", (home: string) => join(home, "secrets", "key")],
  ["the home, by another link", (home: string) => join(home, "..", "link", "secrets", "key")],
  ["the kernel", () => "/proc/self/environ"],
])("[LIFE-18] are not read from a link into %s, and the next name counts", async (_, target) => {
  const { home, cwd, texts } = await stage();
  await mkdir(join(home, "secrets"));
  await writeFile(join(home, "secrets", "key"), "secret");
  await symlink(home, join(home, "..", "link"));
  await symlink(target(home), join(cwd, "AGENTS.md"));
  await writeFile(join(cwd, "OTHER.md"), "the project's");
  expect(await texts()).toEqual(["the project's"]);
});
