import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { MemoryFiles } from "../../../../../test/support/memory-files.ts";
import { nodeFiles } from "../../platform/node-files.ts";
import type { Files } from "../../platform/platform.ts";
import { blobFolders, keepBlob, listBlobs, readBlob } from "./blob-files.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "bobbin-blobs-"));
});
afterEach(() => rm(folder, { recursive: true }));

const files = nodeFiles();
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = async (name: string, folders = [folder]) => {
  const found = await readBlob(files, folders, name);
  return found && new TextDecoder().decode(found);
};

it("reads a blob from the first folder that has it, and lists complete ones by their prefix", async () => {
  const other = join(folder, "other");
  await keepBlob(files, folder, "a1", bytes("one"));
  await keepBlob(files, other, "a1", bytes("another"));
  await keepBlob(files, other, "a2", bytes("second"));
  await (await files.openAppend(join(folder, "a3.part"))).close();
  expect(await textOf("a1", [folder, other])).toBe("one");
  expect(await textOf("a2", [folder, other])).toBe("second");
  expect(await textOf("a3", [folder, other])).toBeUndefined();
  await keepBlob(files, folder, "b1", bytes("not asked for"));
  expect(await listBlobs(files, folder, "a")).toEqual([{ name: "a1", bytes: 3 }]);
  expect(await listBlobs(files, folder, "other")).toEqual([]);
});

it("writes over what a crash left of the same blob", async () => {
  const left = await files.openAppend(join(folder, "a.part"));
  await left.append(bytes("half of"));
  await left.close();
  await keepBlob(files, folder, "a", bytes("the whole"));
  expect(await textOf("a")).toBe("the whole");
});

it("never mixes the bytes of two that write the same blob at once", async () => {
  // Another host begins the same draft after this one has removed what was there.
  const crossed: Files = {
    ...files,
    async remove(path) {
      await files.remove(path);
      const theirs = await files.openAppend(path);
      await theirs.append(bytes("the wh"));
      await theirs.close();
    },
  };
  await expect(keepBlob(crossed, folder, "a", bytes("the whole"))).rejects.toMatchObject({ code: "EEXIST" });
  expect(await textOf("a")).toBeUndefined();
});

it("syncs a blob before it gets its name, and closes its file also when the disk is full", async () => {
  const done: string[] = [];
  const recording = (full: boolean): Files => ({
    ...files,
    exists: async () => false,
    remove: async () => {},
    rename: async () => void done.push("rename"),
    openAppend: async () => ({
      size: 0,
      end: () => 0,
      append: async () => {
        done.push("append");
        if (full) throw new Error("the disk is full");
        return 0;
      },
      sync: async () => void done.push("sync"),
      truncate: async () => {},
      close: async () => void done.push("close"),
    }),
  });
  await keepBlob(recording(false), folder, "a", bytes("x"));
  expect(done.splice(0)).toEqual(["append", "sync", "close", "rename"]);
  await expect(keepBlob(recording(true), folder, "a", bytes("x"))).rejects.toThrow("full");
  expect(done).toEqual(["append", "close"]);
});

it("writes a blob once, by a draft that replaces an older one", async () => {
  const memory = new MemoryFiles();
  memory.put("b/a.part", "half");
  await keepBlob(memory, "/home/b", "a", bytes("whole"));
  expect(memory.taken()).toEqual([
    "remove b/a.part",
    "create b/a.part",
    "append b/a.part",
    "fsync b/a.part",
    "rename b/a.part b/a",
  ]);
  await keepBlob(memory, "/home/b", "a", bytes("whole"));
  expect([memory.taken(), memory.text("b/a"), memory.open]).toEqual([[], "whole", []]);
});

it("closes what it reads, also after a failure, and passes over what is removed meanwhile", async () => {
  const memory = new MemoryFiles();
  for (const name of ["a1", "a2", "a3"]) memory.put(`b/${name}`, name);
  memory.fail("read", "a1");
  await expect(readBlob(memory, ["/home/b"], "a1")).rejects.toMatchObject({ code: "EIO" });
  memory.fail("size", "a2");
  await expect(listBlobs(memory, "/home/b", "a")).rejects.toMatchObject({ code: "EIO" });
  const go = memory.hold("openRead", "a2");
  const listed = listBlobs(memory, "/home/b", "a");
  await memory.remove("/home/b/a2");
  go();
  expect((await listed).map(({ name }) => name)).toEqual(["a1", "a3"]);
  expect(memory.open).toEqual([]);
});

it("looks for blobs beside the journal first, and then where a crash may have left them", () => {
  const id = "019a8954-e4c0-7000-8000-000000000001";
  const name = `rollout-2025-11-15T21-03-53-${id}.blobs`;
  const [active, away] = [`/home/sessions/2025/11/15/${name}`, `/home/archived_sessions/${name}`];
  expect(blobFolders("/home", id, false)).toEqual([active, away]);
  expect(blobFolders("/home", id, true)).toEqual([away, active]);
});
