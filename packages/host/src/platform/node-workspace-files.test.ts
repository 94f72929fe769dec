import { mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../../../../test/support/folder.ts";
import { nodeWorkspace } from "./node-workspace-files.ts";

const BYTES = Buffer.from("new\n");

async function stage() {
  const top = await freshFolder("workspace");
  const [work, outside] = [join(top, "work"), join(top, "outside")];
  for (const folder of [join(work, "sub"), outside]) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "a.txt"), "old\n");
  }
  /** Allows a path, and exchanges the folder `sub` for a link each time after it was looked at. */
  const exchange = async (): Promise<void> => {
    await rename(join(work, "sub"), join(work, "old"));
    await symlink(outside, join(work, "sub"));
  };
  return { work, outside, exchange };
}

describe("a file in a user's folder", () => {
  it.each(["sub/a.txt", "sub/new.txt", "sub/x/y/new.txt"])(
    "[PATCH-18] is not written behind a link that took the place of its folder: %s",
    async (path) => {
      const { work, outside, exchange } = await stage();
      const { folder } = await nodeWorkspace.locate(join(work, path));
      let exchanging: Promise<void> | undefined;
      const isAllowed = (): boolean => {
        exchanging ??= exchange();
        return true;
      };
      // The link may come a moment before the folder is opened or a moment after.
      await nodeWorkspace
        .replace(join(work, path), BYTES, { mode: undefined, from: folder, isAllowed })
        .catch(() => {});
      await exchanging;
      expect(await readdir(outside, { recursive: true })).toEqual(["a.txt"]);
      expect(await readFile(join(outside, "a.txt"), "utf8")).toBe("old\n");
      // Nor is it read or removed there.
      await expect(nodeWorkspace.read(join(work, path), 100, folder)).rejects.toThrow("outside the writable");
      const options = { from: folder, isAllowed: () => true };
      await nodeWorkspace.remove(join(work, path), options).catch(() => {});
      expect(await readdir(outside)).toEqual(["a.txt"]);
    },
  );

  it("[PATCH-18] is found by the nearest folder that exists, and folders are made from there", async () => {
    const { work } = await stage();
    const place = await nodeWorkspace.locate(join(work, "sub", "x", "y", "new.txt"));
    expect(place).toMatchObject({
      path: join(work, "sub", "x", "y", "new.txt"),
      folder: { path: join(work, "sub"), id: expect.stringMatching(/^\d+:\d+$/) },
    });
    const options = { mode: undefined, from: place.folder, isAllowed: (real: string) => real === place.path };
    expect(await nodeWorkspace.replace(place.path, BYTES, options)).toBe(join(work, "sub", "x"));
    // The same place after a crash, when the folders exist.
    expect(await nodeWorkspace.replace(place.path, BYTES, options)).toBeUndefined();
    expect((await nodeWorkspace.read(place.path, 100, place.folder))?.bytes.toString()).toBe("new\n");
    await nodeWorkspace.remove(place.path, { ...options, madeFolder: join(work, "sub", "x") });
    expect(await readdir(join(work, "sub"))).toEqual(["a.txt"]);
  });

  it("[PATCH-18] is not read through a link, if its folder was judged", async () => {
    const { work, outside } = await stage();
    const link = join(work, "sub", "link");
    await symlink(join(outside, "a.txt"), link);
    const { path, folder } = await nodeWorkspace.locate(link, { link: true });
    expect(path).toBe(link);
    await expect(nodeWorkspace.read(path, 100, folder)).rejects.toThrow("is a symlink");
    expect((await nodeWorkspace.locate(link)).path).toBe(join(outside, "a.txt"));
  });
});

describe("a draft that a killed host has left", () => {
  it("[PATCH-13] is removed, and nothing else: no draft that may be in use, and no file of the user", async () => {
    const { work } = await stage();
    const names = [".0123456789abcdef.bobbin-draft", ".fedcba9876543210.bobbin-draft", ".mine.bobbin-draft"];
    for (const name of names) await writeFile(join(work, "sub", name), "half");
    const longAgo = new Date(Date.now() - 3_600_000);
    for (const name of [names[0]!, names[2]!]) await utimes(join(work, "sub", name), longAgo, longAgo);
    const file = join(work, "sub/a.txt");
    await nodeWorkspace.removeDrafts(file, { from: (await nodeWorkspace.locate(file)).folder });
    expect((await readdir(join(work, "sub"))).toSorted()).toEqual([names[1]!, names[2]!, "a.txt"].toSorted());
    await nodeWorkspace.removeDrafts(join(work, "gone/a.txt"), {});
  });
});
