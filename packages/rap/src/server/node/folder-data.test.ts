import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../../../../../test/support/folder.ts";
import { folderData } from "./index.ts";

describe("entries in a folder", () => {
  it("are stored under any name, over a restart", async () => {
    const root = await freshFolder("rap");
    const { store } = folderData(root);
    const keys = ["a", "A", "../a", "a\0", "", "x".repeat(5000), "é", "e\u0301"];
    for (const key of keys) await store.set(key, `of ${key}`, { sync: true });
    await store.set("a", "new");
    const again = folderData(root).store;
    expect(await again.get("a")).toBe("new");
    for (const key of keys.slice(1)) expect(await again.get(key)).toBe(`of ${key}`);
    expect((await again.list("")).map(([key]) => key).toSorted()).toEqual(keys.toSorted());
    expect((await again.list("../")).map(([, value]) => value)).toEqual(["of ../a"]);
    await again.delete("../a");
    await again.delete("never there");
    expect(await again.get("../a")).toBeUndefined();
    expect(await readdir(root)).toEqual(["entries"]);
  });

  it("are written atomically: what a crash left half written is ignored", async () => {
    const root = await freshFolder("rap");
    const { store } = folderData(root);
    expect(await store.list("")).toEqual([]);
    await store.set("good", "1");
    const [file] = await readdir(join(root, "entries"));
    await writeFile(join(root, "entries", "half.next"), '["bad",');
    await writeFile(join(root, "entries", `${"0".repeat(64)}.json`), '["bad",');
    expect(await store.list("")).toEqual([["good", "1"]]);
    expect(await readdir(join(root, "entries"))).toContain("half.next");
    expect(await folderData(root).store.list("")).toEqual([["good", "1"]]);
    const names = await readdir(join(root, "entries"));
    expect(names.toSorted()).toEqual([file!, `${"0".repeat(64)}.json.bad`].toSorted());
  });

  it("can be written concurrently, and the last write wins", async () => {
    const { store } = folderData(await freshFolder("rap"));
    await Promise.all(Array.from({ length: 50 }, (_, index) => store.set(`key ${index % 5}`, String(index))));
    expect(await store.list("")).toHaveLength(5);
  });
});

it("what a crash left in the trash is deleted with the next folder", async () => {
  const root = await freshFolder("rap");
  const { folders } = folderData(root);
  await mkdir(join(root, "trash", "left", "deep"), { recursive: true });
  await folders!.open("", "thread_1");
  await folders!.remove("", "thread_1");
  await folders!.remove("", "never there");
  expect(await readdir(join(root, "trash"))).toEqual([]);
  expect(await folders!.find("", "thread_1")).toBeUndefined();
});
