import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../../../../test/support/folder.ts";
import { nodePlatform } from "../platform/node.ts";
import { IndexLinkReader, parseIndexLinks } from "./index-gitlinks.ts";

const LINKS = ["a/link", `deep/${"x".repeat(200)}/link`, "z"];

/** A repository whose index has files, some of them by names of odd lengths, and links to nested repositories. */
async function repositoryWith(
  ...config: readonly string[]
): Promise<{ folder: string; git: (...args: readonly string[]) => string }> {
  const folder = await freshFolder("index");
  const run = (...args: readonly string[]): string =>
    execFileSync("git", [...config, ...args], { cwd: folder, encoding: "utf8" });
  const isSha256 = config.includes("extensions.objectFormat=sha256");
  run("init", "-q", ...(isSha256 ? ["--object-format=sha256"] : []));
  for (let length = 1; length < 20; length++) await writeFile(join(folder, "f".repeat(length)), "");
  await mkdir(join(folder, "a"));
  await writeFile(join(folder, "a", "later"), "");
  run("add", ".");
  // A file that is to be added later makes an entry of the extended form.
  await writeFile(join(folder, "intended"), "");
  run("add", "--intent-to-add", "intended");
  for (const link of LINKS)
    run("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(isSha256 ? 64 : 40)},${link}`);
  return { folder, git: run };
}

const sorted = (links: readonly string[]): readonly string[] => [...links].sort();

it.each([
  ["2", ["-c", "index.version=2"]],
  ["3", ["-c", "index.version=3"]],
  ["4", ["-c", "index.version=4"]],
  ["4 with hashes of SHA-256", ["-c", "index.version=4", "-c", "extensions.objectFormat=sha256"]],
])("finds the links to nested repositories in an index of version %s", async (_, config) => {
  const { folder } = await repositoryWith(...config);
  const isSha256 = config.includes("extensions.objectFormat=sha256");
  const reader = new IndexLinkReader(nodePlatform());
  expect(sorted(await reader.of(join(folder, ".git"), isSha256))).toEqual(LINKS);
});

it("finds the links in a split index, and new ones after a change", async () => {
  const { folder, git } = await repositoryWith();
  git("update-index", "--split-index");
  git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},new`);
  const reader = new IndexLinkReader(nodePlatform());
  expect(sorted(await reader.of(join(folder, ".git"), false))).toEqual(sorted([...LINKS, "new"]));
  git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},newer`);
  expect(await reader.of(join(folder, ".git"), false)).toContain("newer");
});

it("finds none where there is no index, or none that git would read", async () => {
  const folder = await freshFolder("index");
  const reader = new IndexLinkReader(nodePlatform());
  expect(await reader.of(folder, false)).toEqual([]);
  for (const text of ["", "DIRC", `DIRC\0\0\0\u0002\0\0\0\u0009cut off`, `DIRC\0\0\0\u0009\0\0\0\0`]) {
    await writeFile(join(folder, "index"), text);
    expect(await reader.of(folder, false)).toEqual([]);
  }
});

it("finds links behind paths of any length", async () => {
  const { folder, git } = await repositoryWith("-c", "index.version=4");
  const entry = (path: string): string => `160000 ${"1".repeat(40)} 0\t${path}\n`;
  execFileSync("git", ["-c", "index.version=4", "update-index", "--index-info"], {
    cwd: folder,
    input: entry(`${"b/".repeat(5000)}c`) + entry("b0"),
  });
  expect(git("ls-files", "--stage")).toContain("b0");
  const reader = new IndexLinkReader(nodePlatform());
  expect(sorted(await reader.of(join(folder, ".git"), false))).toEqual(sorted([...LINKS, "b0"]));
});

it("rejects an index that is cut off anywhere before its extensions", async () => {
  const { folder } = await repositoryWith("-c", "index.version=4");
  const bytes = await readFile(join(folder, ".git", "index"));
  const end = bytes.indexOf("z\0", bytes.indexOf("x".repeat(200)));
  for (let length = 0; length < end; length += 7)
    expect(() => parseIndexLinks(bytes.subarray(0, length), 20), String(length)).toThrow();
});
