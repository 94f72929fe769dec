import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeFiles } from "./node-files.ts";
import type { ReadableFiles } from "./platform.ts";

const files = nodeFiles();
let top: string;
let root: string;
let view: ReadableFiles;

beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "confined-")));
  root = join(top, "root");
  await mkdir(join(root, "inner"), { recursive: true });
  await mkdir(join(top, "root-of-others"));
  await writeFile(join(root, "mine"), "mine");
  await writeFile(join(root, "inner", "mine"), "deeper");
  await writeFile(join(top, "secret"), "secret");
  await writeFile(join(top, "root-of-others", "secret"), "secret");
  view = files.within(async (path) => path === root || path.startsWith(`${root}/`));
});
afterEach(() => rm(top, { recursive: true }));

/** Every result of the view for a path. */
async function seen(path: string) {
  const file = await view.openRead(path);
  await file?.close();
  return { text: await view.readText(path), opened: file !== undefined };
}
const NOTHING = { text: undefined, opened: false };

describe("files within a folder", () => {
  it("[REACH-1] shows what is inside, also by way of links and dots", async () => {
    await symlink(join(root, "inner", "mine"), join(root, "link"));
    await symlink(root, join(top, "way-in"));
    for (const path of [
      join(root, "mine"),
      join(root, "link"),
      `${root}/inner/../mine`,
      join(top, "way-in", "mine"),
    ]) {
      expect((await seen(path)).opened, path).toBe(true);
      expect(await view.exists(path), path).toBe(true);
    }
    expect((await view.list(root)).map(({ name }) => name).sort()).toEqual(["inner", "link", "mine"]);
  });

  it("[REACH-1] shows nothing that is outside, by whatever path", async () => {
    await symlink(join(top, "secret"), join(root, "to-file"));
    await symlink(top, join(root, "to-folder"));
    await symlink("../..", join(root, "inner", "up"));
    await symlink("loop", join(root, "loop"));
    for (const path of [
      join(top, "secret"),
      join(root, "to-file"),
      join(root, "to-folder", "secret"),
      join(root, "inner", "up", "secret"),
      `${root}/../secret`,
      `${root}-of-others/secret`,
      join(root, "loop"),
      join(root, "none"),
      join(root, "mine", "none"),
      `${root}/nul\0`,
      "/proc/self/environ",
      "/proc/self/fd/0",
      "/dev/zero",
    ]) {
      expect(await seen(path), path).toEqual(NOTHING);
    }
    expect(await view.exists(join(top, "secret"))).toBe(false);
    expect(await view.exists(join(root, "to-folder", "secret"))).toBe(false);
    expect(await view.list(top)).toEqual([]);
    expect(await view.list(join(root, "to-folder"))).toEqual([]);
    const stamps = await view.stamps([join(top, "secret"), join(root, "to-file")]);
    expect(stamps).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it("[REACH-1] does not confuse the folder with a sibling whose name begins alike", async () => {
    expect(await view.list(root)).not.toEqual([]);
    expect(await view.list(`${root}-of-others`)).toEqual([]);
  });

  it("[REACH-1] asks about the file that it opened, not about the path", async () => {
    const path = join(root, "swapped");
    await symlink(join(root, "mine"), path);
    let times = 0;
    // The symlink leads inside at the check, and outside at the open.
    const raced = files.within(async (real) => {
      if (times++ === 0) {
        await symlink(join(top, "secret"), join(root, "next"));
        await rename(join(root, "next"), path);
      }
      return real.startsWith(`${root}/`);
    });
    expect(await raced.readText(path)).toBeUndefined();
    expect(times).toBe(2);
  });

  it("[REACH-1] lists the folder that it opened, not what the path leads to by then", async () => {
    const path = join(root, "swapped");
    await symlink(join(root, "inner"), path);
    let times = 0;
    const raced = files.within(async (real) => {
      if (times++ === 0) {
        await symlink(top, join(root, "next"));
        await rename(join(root, "next"), path);
      }
      return real.startsWith(`${root}/`);
    });
    expect(await raced.list(path)).toEqual([]);
  });
});

describe("a real path", () => {
  it("resolves symlinks up to the last existing name", async () => {
    await symlink(join(top, "root-of-others"), join(root, "link"));
    expect(await files.realPath(join(root, "link", "secret"))).toBe(join(top, "root-of-others", "secret"));
    expect(await files.realPath(join(root, "link", "none", "deeper"))).toBe(
      join(top, "root-of-others", "none", "deeper"),
    );
    expect(await files.realPath(join(root, "none", "..", "mine"))).toBe(join(root, "mine"));
    await expect(files.realPath(`${root}/nul\0`)).rejects.toThrow();
  });
});
