import { mkdtemp, readdir, readlink, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { countedFiles, FileCounts } from "../../../../../../test/support/file-call-counter.ts";
import type { Log } from "../../../observe/log.ts";
import { nodeFiles } from "../../../platform/node-files.ts";
import type { Timers } from "../../../platform/platform.ts";
import { CurrentIndexFile, type CurrentIndexFileOptions } from "./current-index-file.ts";
import { IndexFile } from "./index-file.ts";

const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
const timers: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  soon: (run) => void setImmediate(run),
};

let home: string;
let now: number;
let opened: CurrentIndexFile[];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "bobbin-index-"));
  now = 0;
  opened = [];
});
afterEach(async () => {
  for (const file of opened) file.close();
  await rm(home, { recursive: true, force: true });
});

function indexFile(more: Partial<CurrentIndexFileOptions> = {}): CurrentIndexFile {
  const clock = { now: () => 0, monotonic: () => now };
  const path = join(home, "db", "threads.sqlite");
  const file = new CurrentIndexFile({ path, files: nodeFiles(), clock, timers, log, ...more });
  opened.push(file);
  return file;
}

/** The files of the index that this process has open, without the ones of SQLite's log. Linux lists them. */
async function openPaths(): Promise<readonly string[]> {
  const handles = await readdir("/proc/self/fd");
  const targets = await Promise.all(
    handles.map((handle) => readlink(`/proc/self/fd/${handle}`).catch(() => "")),
  );
  return targets.filter((path) => path.startsWith(home) && path.endsWith(".sqlite"));
}

it("opens one file, and goes on with it", async () => {
  const file = indexFile();
  expect(file.current).toBeUndefined();
  const [first, second] = await Promise.all([file.open(), file.open()]);
  expect(second).toBe(first);
  now += 10_000;
  expect(await file.openOnDisk()).toBe(first);
  expect(file.current).toBe(first);
  expect(await openPaths()).toHaveLength(1);
  file.close();
  await expect(file.open()).rejects.toThrow("the index is closed");
});

it("returns from memory to one file, which it marks as incomplete, and opens it once", async () => {
  const other = indexFile();
  (await other.open()).store.finish();
  other.close();
  // No folder can be made where a file is in the way.
  await rm(join(home, "db"), { recursive: true });
  await writeFile(join(home, "db"), "");
  const file = indexFile();
  expect((await file.open()).inMemoryBecause).toBeDefined();
  await expect(file.mustBeOnDisk()).rejects.toMatchObject({ code: "storageFailed" });
  await expect(file.openOnDisk()).rejects.toMatchObject({ code: "storageFailed" });

  await rm(join(home, "db"));
  // Not looked at again within a second.
  expect((await file.open()).inMemoryBecause).toBeDefined();
  now += 1000;
  const back = await file.open();
  expect(back).toMatchObject({ path: join(home, "db", "threads.v5.sqlite") });
  expect(back.inMemoryBecause).toBeUndefined();
  expect(back.store.complete).toBe(false);
  expect(await file.openOnDisk()).toBe(back);
  expect(await openPaths()).toHaveLength(1);
});

/** An index in memory whose file could be opened now. */
async function inMemory() {
  await writeFile(join(home, "db"), "");
  const file = indexFile();
  const before = await file.open();
  expect(before.inMemoryBecause).toBeDefined();
  await rm(join(home, "db"));
  return { file, before };
}

it("returns from memory once for all who ask at the same time, and closes what it does not use", async () => {
  const { file, before } = await inMemory();
  const close = vi.spyOn(IndexFile.prototype, "close");
  const [one, other] = await Promise.all([file.openOnDisk(), file.openOnDisk()]);
  // The one in memory, and the file of the second who asked.
  expect(close.mock.calls).toEqual([[true], [true]]);
  close.mockRestore();
  expect(other).toBe(one);
  expect(file.current).toBe(one);
  expect(one.store.complete).toBe(false);
  expect(() => before.store.complete).toThrow();
});

it("does not return from memory after it was closed, and leaves no file open", async () => {
  const { file, before } = await inMemory();
  const close = vi.spyOn(IndexFile.prototype, "close");
  const returning = file.openOnDisk();
  file.close();
  await expect(returning).rejects.toThrow("the index is closed");
  expect(file.current).toBe(before);
  expect(close.mock.calls).toEqual([[], [true]]);
  close.mockRestore();
});

it("looks once a second whether the file can be opened, or another host has made a new one", async () => {
  now = 5000;
  await writeFile(join(home, "db"), "");
  const counts = new FileCounts();
  const file = indexFile({ files: countedFiles(nodeFiles(), counts) });
  await file.open();
  /** The calls after each of these times. */
  const calls = async (call: "list" | "exists"): Promise<readonly number[]> => {
    const found: number[] = [];
    for (const ms of [999, 1, 999, 1]) {
      counts.reset();
      now += ms;
      await file.open();
      await file.open();
      found.push(counts.of(call));
    }
    return found;
  };
  expect(await calls("list")).toEqual([0, 1, 0, 1]);
  await rm(join(home, "db"));
  now += 1000;
  expect((await file.open()).inMemoryBecause).toBeUndefined();
  expect(await calls("exists")).toEqual([0, 1, 0, 1]);
});

it("is opened anew after it could not be opened at all", async () => {
  const broken: Log = {
    ...log,
    warn: () => {
      throw new Error("nor can that be logged");
    },
  };
  await writeFile(join(home, "db"), "");
  const file = indexFile({ log: broken });
  await expect(file.open()).rejects.toThrow("nor can that be logged");
  await rm(join(home, "db"));
  expect((await file.open()).inMemoryBecause).toBeUndefined();
});

it("leaves the log of a file that it gives up as it is", async () => {
  const file = indexFile();
  const open = await file.open();
  // Without another one that has the file open, SQLite would remove the log by itself.
  const other = new DatabaseSync(open.path);
  other.prepare("SELECT count(*) FROM meta").get();
  open.store.finish();
  const { size } = await stat(`${open.path}-wal`);
  expect(size).toBeGreaterThan(0);
  file.giveUp(open, new Error("broken"));
  expect((await stat(`${open.path}-wal`)).size).toBe(size);
  other.close();
});

it("leaves a broken file for the next number, and follows another host that did so", async () => {
  const [one, other] = [indexFile(), indexFile()];
  const before = await one.open();
  await other.open();
  one.giveUp(before, new Error("broken"));
  expect(one.current).toBeUndefined();
  const after = await one.open();
  expect(after.generation).toBe(before.generation + 1);
  // What is no longer in use is not given up again.
  one.giveUp(before, new Error("broken"));
  expect(one.current).toBe(after);
  now += 1000;
  expect((await other.open()).path).toBe(after.path);
});

it("is complete from the start if this host has recorded every thread, and only then", async () => {
  const complete = indexFile({ hasRecordedAll: async () => true });
  expect((await complete.open()).store.complete).toBe(true);
  complete.giveUp(complete.current!, new Error("broken"));
  // The new file lacks the rows of the one that was given up.
  expect((await complete.open()).store.complete).toBe(false);
  await rm(join(home, "db"), { recursive: true });
  expect((await indexFile({ hasRecordedAll: async () => false }).open()).store.complete).toBe(false);
});

it("has nothing on disk to complain about before its first use", async () => {
  await indexFile().mustBeOnDisk();
  expect(await readdir(home)).toEqual([]);
});
