import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { freshFolder } from "../../../../../../test/support/folder.ts";
import type { Log } from "../../../observe/log.ts";
import { nodeFiles } from "../../../platform/node-files.ts";
import type { Files } from "../../../platform/platform.ts";
import { IndexFile } from "./index-file.ts";
import {
  type OpenIndexFile,
  openInMemory,
  openNewest,
  removeOlder,
  supersededBy,
} from "./index-generations.ts";

let home: string;
let warned: string[];
let pauses: number;
beforeEach(async () => {
  home = await freshFolder("index");
  warned = [];
  pauses = 0;
});

const log: Log = {
  debug() {},
  info() {},
  error() {},
  warn: (message) => void warned.push(message),
};
const place = (files: Partial<Files> = {}) => ({
  path: join(home, "threads.sqlite"),
  files: { ...nodeFiles(), ...files },
  log,
});
const pause = async (): Promise<void> => void pauses++;
const open = (files: Partial<Files> = {}, { least = 0, behind = false } = {}): Promise<OpenIndexFile> =>
  openNewest(place(files), { least, behind }, pause);
const sqliteError = (message: string): Error =>
  Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR" });

describe("the newest index file", () => {
  it("is created, for its owner alone, and found by the next host", async () => {
    const first = await open();
    expect(first).toMatchObject({ path: join(home, "threads.v5.sqlite"), generation: 0, isNew: true });
    expect(first.inMemoryBecause).toBeUndefined();
    expect((await stat(first.path)).mode & 0o777).toBe(0o600);
    first.store.finish();
    first.store.close();
    const second = await open();
    expect(second).toMatchObject({ path: first.path, generation: 0, isNew: false });
    expect(second.store.complete).toBe(true);
    second.store.close();
    const behind = await open({}, { behind: true });
    expect(behind.store.complete).toBe(false);
    behind.store.close();
    expect(warned).toEqual([]);
  });

  it("is not new if another host has created it in between", async () => {
    (await open()).store.close();
    const found = await open({ exists: async () => false });
    expect(found).toMatchObject({ generation: 0, isNew: false });
    found.store.close();
  });

  it("is not made where the disk refuses it", async () => {
    const refusal = Object.assign(new Error("read-only"), { code: "EROFS" });
    await expect(open({ openAppend: () => Promise.reject(refusal) })).rejects.toBe(refusal);
    expect([pauses, warned]).toEqual([0, []]);
  });

  it.each([
    ["threads.v5.sqlite", 0],
    ["threads.v5.3.sqlite", 3],
    ["threads.v4.9.sqlite", 0],
    ["threads.v6.9.sqlite", 0],
    ["threads.v5.9.sqlite-wal", 0],
    ["threads.v5.9.sqlite.bak", 0],
    ["threads.v5.x.sqlite", 0],
    ["thread.v5.9.sqlite", 0],
    ["threadsXv5.9.sqlite", 0],
  ])("beside %s has the number %i", async (name, generation) => {
    await writeFile(join(home, name), "");
    const found = await open();
    expect(found.generation).toBe(generation);
    found.store.close();
  });

  it("has at least the number that is asked for", async () => {
    await writeFile(join(home, "threads.v5.2.sqlite"), "");
    for (const [least, generation] of [
      [1, 2],
      [4, 4],
    ] as const) {
      const found = await open({}, { least });
      expect(found).toMatchObject({ generation, path: join(home, `threads.v5.${generation}.sqlite`) });
      found.store.close();
    }
  });

  it("takes the place of a broken one", async () => {
    await writeFile(join(home, "threads.v5.sqlite"), "this is not a database ".repeat(100));
    const found = await open();
    expect(found).toMatchObject({ generation: 1, isNew: true });
    expect(warned).toEqual(["the index file is broken; a new one is made from the journals"]);
    found.store.close();
  });

  it("is waited for while another host writes, and still new if it was made before", async () => {
    const { openAppend } = nodeFiles();
    let other: DatabaseSyncInstance | undefined;
    const found = await openNewest(
      place({
        openAppend: async (path, options) => {
          const file = await openAppend(path, options);
          other = new DatabaseSync(path);
          other.exec("BEGIN EXCLUSIVE");
          return file;
        },
      }),
      { least: 0, behind: false },
      async () => {
        pauses++;
        other?.close();
      },
    );
    expect([pauses, found.isNew, warned]).toEqual([1, true, []]);
    found.store.close();
  });

  it("is tried 200 times while it is locked, and eight numbers further if files are broken", async () => {
    const tried: string[] = [];
    const failing = (cause: Error): Partial<Files> => ({
      exists: async (path) => {
        tried.push(path);
        throw cause;
      },
    });
    const locked = sqliteError("database is locked");
    await expect(open(failing(locked))).rejects.toBe(locked);
    expect([tried.length, new Set(tried).size, pauses, warned.length]).toEqual([200, 1, 199, 0]);
    tried.length = 0;
    const broken = sqliteError("database disk image is malformed");
    await expect(open(failing(broken))).rejects.toBe(broken);
    const numbers = Array.from({ length: 8 }, (_, at) => `.${at + 1}`);
    expect(tried).toEqual(["", ...numbers].map((number) => join(home, `threads.v5${number}.sqlite`)));
    expect([pauses, warned.length]).toEqual([199, 8]);
  });

  it("is closed, and nothing is written, if it cannot be marked as incomplete", async () => {
    const path = join(home, "threads.v5.sqlite");
    const store = new IndexFile(DatabaseSync, path);
    store.finish();
    const other = new DatabaseSync(path);
    other.exec(`CREATE TRIGGER full BEFORE UPDATE ON meta WHEN NEW.value <> OLD.value
BEGIN SELECT RAISE(ABORT, 'disk is full'); END`);
    store.close(true);
    const logged = (await stat(`${path}-wal`)).size;
    expect(logged).toBeGreaterThan(0);
    const close = vi.spyOn(IndexFile.prototype, "close");
    await expect(open({}, { behind: true })).rejects.toThrow("disk is full");
    expect(close).toHaveBeenCalledOnce();
    close.mockRestore();
    expect((await stat(`${path}-wal`)).size).toBe(logged);
    other.close();
  });
});

describe("an index in memory", () => {
  it("says why it is there, and is neither new nor superseded", async () => {
    const cause = new Error("EROFS");
    const found = await openInMemory(3, cause);
    expect(found).toMatchObject({ path: ":memory:", generation: 3, isNew: false, inMemoryBecause: cause });
    expect(found.store.complete).toBe(false);
    await writeFile(join(home, "threads.v5.4.sqlite"), "");
    await writeFile(join(home, "threads.v4.sqlite"), "");
    expect(await supersededBy(place(), found)).toBe(false);
    await removeOlder(place(), found, 0);
    expect((await readdir(home)).sort()).toEqual(["threads.v4.sqlite", "threads.v5.4.sqlite"]);
    found.store.close();
  });
});

describe("files of other numbers and versions", () => {
  const names = [
    "other.v4.sqlite",
    "threads.v4.3.sqlite",
    "threads.v4.sqlite",
    "threads.v4.sqlite.bak",
    "threads.v5.1.sqlite",
    "threads.v5.2.sqlite",
    "threads.v5.3.sqlite",
    "threads.v5.sqlite",
    "threads.v6.1.sqlite",
    "threads.v6.sqlite",
  ];
  const tails = ["-wal", "-shm"];

  it.each([
    [1, ["threads.v4.3.sqlite", "threads.v4.sqlite", "threads.v5.sqlite"]],
    [0, ["threads.v4.3.sqlite", "threads.v4.sqlite", "threads.v5.1.sqlite", "threads.v5.sqlite"]],
  ] as const)(
    "are removed if they are older, but for the last %i, with their logs",
    async (keep, removed) => {
      const all = names.flatMap((name) => [name, ...tails.map((tail) => `${name}${tail}`)]);
      for (const name of all) await writeFile(join(home, name), "");
      const current = { ...(await openInMemory(2, undefined)), path: join(home, "threads.v5.2.sqlite") };
      await (keep === 1 ? removeOlder(place(), current) : removeOlder(place(), current, 0));
      const gone = removed.flatMap((name) => [name, ...tails.map((tail) => `${name}${tail}`)]);
      expect((await readdir(home)).sort()).toEqual(all.filter((name) => !gone.includes(name)).sort());
      current.store.close();
    },
  );

  it("supersede a file if they have the next number", async () => {
    const current = await open({}, { least: 2 });
    await writeFile(join(home, "threads.v5.1.sqlite"), "");
    expect(await supersededBy(place(), current)).toBe(false);
    await writeFile(join(home, "threads.v5.3.sqlite"), "");
    expect(await supersededBy(place(), current)).toBe(true);
    current.store.close();
  });
});
