import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeFolders } from "./make-folders.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "make-folders-"));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

it("makes what is missing for its owner only, and names the topmost folder that it made", async () => {
  expect(await makeFolders(join(home, "a/b/c"))).toBe(join(home, "a"));
  expect(await makeFolders(join(home, "a/b/d"))).toBe(join(home, "a/b/d"));
  expect(await makeFolders(join(home, "a/b/d"))).toBeUndefined();
  expect((await stat(join(home, "a/b"))).mode & 0o777).toBe(0o700);
});

it("succeeds for several callers at once", async () => {
  const paths = ["a/b/c", "a/b/c", "a/b/d", "a/b"].map((path) => join(home, path));
  await Promise.all(paths.map((path) => makeFolders(path)));
  for (const path of paths) expect((await stat(path)).isDirectory()).toBe(true);
});

it("refuses a path that a file is in the way of", async () => {
  await mkdir(join(home, "a"));
  await writeFile(join(home, "a/file"), "");
  await expect(makeFolders(join(home, "a/file"))).rejects.toMatchObject({ code: "EEXIST" });
  await expect(makeFolders(join(home, "a/file/b/c"))).rejects.toMatchObject({ code: "ENOTDIR" });
});

it.runIf(process.platform === "linux")("refuses a folder that can hold no folders", async () => {
  await expect(makeFolders("/proc/bobbin/live")).rejects.toMatchObject({
    code: "ENOENT",
    path: "/proc/bobbin",
  });
});
