import { execFileSync } from "node:child_process";
import fs from "node:fs";
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { FsyncQueue } from "./fsync-queue.ts";
import type { LocalDiskFolders } from "./local-disk-folders.ts";
import { NodeAppendFile } from "./node-append-file.ts";
import { nodeFiles } from "./node-files.ts";
import { earlyFiles } from "./startup-file-reader.ts";

let home: string;
const files = nodeFiles();
const bytes = (text: string) => new TextEncoder().encode(text);
const at = (...names: string[]) => join(home, ...names);

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "node-files-"));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

type Calls = NonNullable<Parameters<typeof nodeFiles>[0]>;
type Answer = (cause: NodeJS.ErrnoException | null, count: number) => void;

/** Node's file calls, some of them replaced. */
function withCalls(instead: Record<string, unknown>): Calls {
  return { ...fs, ...instead } as unknown as Calls;
}

/** A write that accepts this many bytes per call; "full" fails like a full disk. */
function writesOf(...takes: (number | "full")[]): Calls {
  const write = (
    fd: number,
    from: Uint8Array,
    start: number,
    length: number,
    where: null,
    answer: Answer,
  ): void => {
    const take = takes.shift() ?? length;
    if (take === "full") answer(Object.assign(new Error("ENOSPC: no space"), { code: "ENOSPC" }), 0);
    else fs.write(fd, from, start, Math.min(take, length), where, answer);
  };
  return withCalls({ write });
}

describe("an append file", () => {
  it("is created with its folders, readable by its owner only, and reports its size", async () => {
    const file = await files.openAppend(at("a", "b", "journal.jsonl"));
    expect(file.size).toBe(0);
    await file.append(bytes("one\n"));
    await file.append(bytes(""));
    await file.append(bytes("zwei ✓\n"));
    expect(file.size).toBe(4 + 9);
    await file.sync();
    await file.close();
    expect(await readFile(at("a", "b", "journal.jsonl"), "utf8")).toBe("one\nzwei ✓\n");
    expect((await stat(at("a", "b", "journal.jsonl"))).mode & 0o777).toBe(0o600);
    expect((await stat(at("a"))).mode & 0o777).toBe(0o700);
    expect((await stat(at("a", "b"))).mode & 0o777).toBe(0o700);
  });

  it("goes on at the end of what is there", async () => {
    await writeFile(at("x"), "old\n");
    const file = await files.openAppend(at("x"));
    expect(file.size).toBe(4);
    await file.append(bytes("new\n"));
    await file.close();
    expect(await readFile(at("x"), "utf8")).toBe("old\nnew\n");
  });

  it("refuses to be fresh where something is", async () => {
    await (await files.openAppend(at("f", "x"), { fresh: true })).close();
    await expect(files.openAppend(at("f", "x"), { fresh: true })).rejects.toMatchObject({ code: "EEXIST" });
  });

  it("keeps the order of appends that nobody waited for, and a sync and a close cover them", async () => {
    const file = await files.openAppend(at("x"));
    const all = Array.from({ length: 200 }, (_, n) => file.append(bytes(`${n}\n`)));
    const synced = file.sync();
    const closed = file.close();
    await Promise.all([...all, synced, closed]);
    const lines = (await readFile(at("x"), "utf8")).trimEnd().split("\n");
    expect(lines).toEqual(Array.from({ length: 200 }, (_, n) => String(n)));
  });

  it("finishes a write that the system takes in pieces", async () => {
    const file = await nodeFiles(writesOf(1, 2, 3)).openAppend(at("x"));
    await file.append(bytes("0123456789\n"));
    await file.close();
    expect(await readFile(at("x"), "utf8")).toBe("0123456789\n");
  });

  it("leaves no partial line on a full disk, and continues when there is room", async () => {
    const file = await nodeFiles(writesOf(4, 3, "full", 0, "full")).openAppend(at("x"));
    await file.append(bytes("one\n"));
    await expect(file.append(bytes("two two\n"))).rejects.toMatchObject({ code: "ENOSPC" });
    expect(file.size).toBe(4);
    expect(await readFile(at("x"), "utf8")).toBe("one\n");
    await expect(file.append(bytes("two two\n"))).rejects.toThrow("takes no more bytes");
    await expect(file.append(bytes("two two\n"))).rejects.toMatchObject({ code: "ENOSPC" });
    await file.append(bytes("three\n"));
    await file.close();
    expect(await readFile(at("x"), "utf8")).toBe("one\nthree\n");
  });

  it("cuts the half line before the next append when it could not do so at once", async () => {
    let refuse = true;
    const calls = writesOf(4, 2, "full");
    const ftruncate = (fd: number, size: number, answer: (cause: Error | null) => void): void => {
      if (refuse) answer(new Error("EIO"));
      else fs.ftruncate(fd, size, answer);
    };
    const file = await nodeFiles({ ...calls, ftruncate } as unknown as Calls).openAppend(at("x"));
    await file.append(bytes("one\n"));
    await expect(file.append(bytes("two\n"))).rejects.toMatchObject({ code: "ENOSPC" });
    await expect(file.append(bytes("three\n"))).rejects.toThrow("EIO");
    refuse = false;
    await file.append(bytes("four\n"));
    await file.close();
    expect(await readFile(at("x"), "utf8")).toBe("one\nfour\n");
  });

  it("never truncates bytes that another process appended", async () => {
    const file = await nodeFiles(writesOf(4, "full")).openAppend(at("x"));
    await file.append(bytes("one\n"));
    fs.appendFileSync(at("x"), "a line of another writer\n");
    await expect(file.append(bytes("two\n"))).rejects.toMatchObject({ code: "ENOSPC" });
    await file.close();
    expect(await readFile(at("x"), "utf8")).toBe("one\na line of another writer\n");
  });

  it("cuts a torn tail and goes on there", async () => {
    await writeFile(at("x"), 'whole\n{"torn');
    const file = await files.openAppend(at("x"));
    await file.truncate(6);
    expect(file.size).toBe(6);
    await file.append(bytes("next\n"));
    await expect(file.truncate(100)).rejects.toThrow(RangeError);
    await file.close();
    expect(await readFile(at("x"), "utf8")).toBe("whole\nnext\n");
  });

  it("touches nothing once it is closed, and closes once", async () => {
    const file = await files.openAppend(at("x"));
    await Promise.all([file.close(), file.close()]);
    await expect(file.append(bytes("late"))).rejects.toMatchObject({ code: "EBADF" });
    await expect(file.sync()).rejects.toMatchObject({ code: "EBADF" });
    await expect(file.truncate(0)).rejects.toMatchObject({ code: "EBADF" });
  });
});

describe("a short append on a disk of this machine", () => {
  const localDisk = {
    at: (_path: string, run: () => unknown) => ({ value: run() }),
  } as unknown as LocalDiskFolders;
  const opened = (path: string, flags: string, calls: Calls = withCalls({})) =>
    new NodeAppendFile(calls, {
      fd: fs.openSync(path, flags),
      path,
      size: 0,
      newIn: [],
      syncs: new FsyncQueue(calls),
      localDisk,
    });

  it("is visible synchronously", async () => {
    const file = opened(at("x"), "a");
    const done = [file.append(bytes("one\n")), file.append(bytes(""))];
    expect(fs.readFileSync(at("x"), "utf8")).toBe("one\n");
    expect(file.size).toBe(4);
    await Promise.all(done);
    await file.close();
  });

  it("waits behind writes in the thread pool, and goes there itself while the file is being synced", async () => {
    const held: ((cause: Error | null) => void)[] = [];
    const fdatasync = (_fd: number, answer: (cause: Error | null) => void): void => void held.push(answer);
    const pooled: number[] = [];
    const write = (...all: [number, Uint8Array, number, number, null, Answer]): void => {
      pooled.push(all[3]);
      fs.write(...all);
    };
    const file = opened(at("x"), "a", withCalls({ fdatasync, write }));
    const long = `${"x".repeat(100_000)}\n`;
    await Promise.all([file.append(bytes(long)), file.append(bytes("one\n"))]);
    expect(fs.readFileSync(at("x"), "utf8")).toBe(`${long}one\n`);
    expect(pooled).toEqual([100_001]);
    const sync = file.sync();
    while (held.length === 0) await new Promise(setImmediate);
    await file.append(bytes("two\n"));
    expect(pooled).toEqual([100_001, 4]);
    held[0]!(null);
    await sync;
    await file.append(bytes("three\n"));
    expect(fs.readFileSync(at("x"), "utf8")).toBe(`${long}one\ntwo\nthree\n`);
    expect(pooled).toHaveLength(2);
    await file.close();
  });

  it("that fails rejects like any other", async () => {
    fs.writeFileSync(at("x"), "old");
    const file = opened(at("x"), "r");
    await expect(file.append(bytes("one\n"))).rejects.toMatchObject({ code: "EBADF" });
    await file.close();
  });
});

describe("stamps", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("are the same as long as nothing has changed, come or gone", async () => {
    fs.writeFileSync(at("x"), "one");
    fs.symlinkSync(at("x"), at("link"));
    const paths = [at("x"), at("link"), at("none"), home];
    const later = Date.now() + 60_000;
    vi.spyOn(Date, "now").mockImplementation(() => later);
    const before = await files.stamps(paths);
    expect(before).toHaveLength(12);
    expect(await files.stamps(paths)).toEqual(before);
    fs.appendFileSync(at("x"), "two");
    const changed = (await files.stamps(paths))!;
    expect(changed.slice(0, 3)).not.toEqual(before!.slice(0, 3));
    expect(changed.slice(3, 6)).toEqual(changed.slice(0, 3));
    expect(changed.slice(6)).toEqual(before!.slice(6));
    fs.writeFileSync(at("none"), "");
    expect((await files.stamps(paths))!.slice(6, 9)).not.toEqual([0, 0, 0]);
    fs.rmSync(at("x"));
    expect((await files.stamps(paths))!.slice(0, 6)).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it("are undefined for a file that has just changed", async () => {
    fs.writeFileSync(at("x"), "one");
    expect(await files.stamps([at("x")])).toBeUndefined();
  });
});

describe("a sync", () => {
  /** Collects the callbacks of all fdatasync calls, so that the test completes them. */
  function heldSyncs() {
    const held: ((cause: Error | null) => void)[] = [];
    let arrived = (): void => {};
    const fdatasync = (_fd: number, answer: (cause: Error | null) => void): void => {
      held.push(answer);
      arrived();
    };
    const next = async () => {
      if (held.length === 0) {
        await new Promise<void>((done) => {
          arrived = done;
        });
      }
      return held.shift()!;
    };
    return { held, next, calls: withCalls({ fdatasync }) };
  }

  it("runs one at a time, and all that come meanwhile share the next", async () => {
    const { held, next, calls } = heldSyncs();
    const file = await nodeFiles(calls).openAppend(at("x"));
    await file.append(bytes("1"));
    const done: string[] = [];
    const first = file.sync().then(() => done.push("first"));
    const answerFirst = await next();
    await file.append(bytes("2"));
    const later = ["a", "b", "c"].map((name) => file.sync().then(() => done.push(name)));
    expect(held).toHaveLength(0);
    answerFirst(null);
    await first;
    expect(done).toEqual(["first"]);
    const answerNext = await next();
    expect(held).toHaveLength(0);
    answerNext(null);
    await Promise.all(later);
    expect(done).toEqual(["first", "a", "b", "c"]);
    expect(held).toHaveLength(0);
    await file.close();
  });

  it("costs nothing when nothing was written since the last", async () => {
    const { held, next, calls } = heldSyncs();
    const file = await nodeFiles(calls).openAppend(at("x"));
    const first = file.sync();
    (await next())(null);
    await first;
    await file.sync();
    expect(held).toHaveLength(0);
    await file.close();
  });

  it("that fails rejects for all callers that it covered, and never succeeds later", async () => {
    const { next, calls } = heldSyncs();
    const file = await nodeFiles(calls).openAppend(at("x"));
    const first = file.sync();
    const answerFirst = await next();
    await file.append(bytes("2"));
    const later = Promise.allSettled([file.sync(), file.sync()]);
    answerFirst(null);
    await first;
    (await next())(new Error("EIO"));
    expect((await later).map((one) => one.status)).toEqual(["rejected", "rejected"]);
    await expect(file.sync()).rejects.toThrow("EIO");
    await file.close();
  });

  it("of a new file also syncs every folder that was created for it; others can be synced explicitly", async () => {
    const synced: string[] = [];
    const opened = new Map<number, string>();
    const open = (path: string, ...rest: unknown[]): void => {
      const answer = rest.pop() as (cause: Error | null, fd: number) => void;
      const keep = (cause: Error | null, fd: number): void => {
        opened.set(fd, path);
        answer(cause, fd);
      };
      (fs.open as unknown as (...all: unknown[]) => void)(path, ...rest, keep);
    };
    const fsync = (fd: number, answer: (cause: Error | null) => void): void => {
      synced.push(opened.get(fd)!);
      fs.fsync(fd, answer);
    };
    const watched = nodeFiles(withCalls({ open, fsync }));
    await writeFile(at("theirs"), "of someone else");
    for (const path of [at("theirs"), home, at("nothing", "there")]) await watched.sync(path);
    expect(synced.splice(0)).toEqual([at("theirs"), home]);
    const file = await watched.openAppend(at("2026", "01", "x"));
    await file.sync();
    expect(synced.toSorted()).toEqual([home, at("2026"), at("2026", "01")]);
    await file.append(bytes("more"));
    await file.sync();
    expect(synced).toHaveLength(3);
    await file.close();
  });
});

describe("a read file", () => {
  it("reads any range, and less only at the end", async () => {
    await writeFile(at("x"), "0123456789");
    const file = (await files.openRead(at("x")))!;
    const text = async (position: number, length: number) =>
      Buffer.from(await file.read(position, length)).toString();
    expect(await file.size()).toBe(10);
    expect(await text(2, 3)).toBe("234");
    expect(await text(8, 100)).toBe("89");
    expect(await text(10, 5)).toBe("");
    expect(await text(3, 0)).toBe("");
    await file.close();
    await expect(file.read(0, 1)).rejects.toMatchObject({ code: "EBADF" });
  });

  it("reads again when the system returns less than requested", async () => {
    await writeFile(at("x"), "0123456789");
    const read = (
      fd: number,
      into: Uint8Array,
      start: number,
      length: number,
      position: number,
      answer: Answer,
    ) => fs.read(fd, into, start, Math.min(3, length), position, answer);
    const file = (await nodeFiles(withCalls({ read })).openRead(at("x")))!;
    expect(Buffer.from(await file.read(1, 8)).toString()).toBe("12345678");
    await file.close();
  });

  it("is closed only after the reads under way", async () => {
    await writeFile(at("x"), "0123456789");
    const file = (await files.openRead(at("x")))!;
    const reading = file.read(0, 10);
    const closing = file.close();
    expect(Buffer.from(await reading).toString()).toBe("0123456789");
    await closing;
  });

  it("is opened, looked at and closed at once on a disk of this machine, but not through a link", async () => {
    await writeFile(at("x"), "0123456789");
    await symlink("x", at("link"));
    // By then it is known whether the folder is on a local disk.
    const direct = async () => (await files.exists(at("x"))) && (await poolCalls(at("x"))).length === 0;
    await eventually(direct, "the file is opened without the thread pool");
    expect(await poolCalls(at("link"))).toContain("open");
  });

  /** The calls that opening a file, its size and closing it make in the thread pool. */
  async function poolCalls(path: string): Promise<readonly string[]> {
    const spies = (["open", "fstat", "close"] as const).map((name) => vi.spyOn(fs, name));
    try {
      const file = (await files.openRead(path))!;
      expect(await file.size()).toBe(10);
      await file.close();
      return spies.filter((spy) => spy.mock.calls.length > 0).map((spy) => spy.getMockName());
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
  }

  it("is undefined where there is none", async () => {
    expect(await files.openRead(at("none"))).toBeUndefined();
    expect(await files.openRead(at("no", "folder"))).toBeUndefined();
  });
});

describe("what is no file", () => {
  const refused = async (path: string): Promise<unknown[]> =>
    (await Promise.allSettled([files.readText(path), files.openRead(path)])).map((outcome) =>
      outcome.status === "rejected" ? (outcome.reason as NodeJS.ErrnoException).code : outcome.value,
    );

  it("does not block: more pipes than the pool has threads are refused, and files are still read", async () => {
    await writeFile(at("x"), "text");
    const pipes = Array.from({ length: 8 }, (_, index) => at(`pipe-${index}`));
    execFileSync("mkfifo", pipes);
    const outcomes = await Promise.all(pipes.map(refused));
    expect(new Set(outcomes.flat())).toEqual(new Set(["ENOTFILE"]));
    expect(await files.readText(at("x"))).toBe("text");
    // For files on a local disk, too, and behind a symlink.
    expect(await refused(pipes[0]!)).toEqual(["ENOTFILE", "ENOTFILE"]);
    await symlink(pipes[0]!, at("link"));
    expect(await refused(at("link"))).toEqual(["ENOTFILE", "ENOTFILE"]);
  });

  it("names its kind in the error", async () => {
    expect(await refused(home)).toEqual(["EISDIR", "EISDIR"]);
    expect(await refused("/dev/zero")).toEqual(["ENOTFILE", "ENOTFILE"]);
    await expect(files.readText("/dev/zero")).rejects.toThrow(/not a regular file but a pipe, a device/);
  });

  it("is not a text when it is larger than one can be", async () => {
    await writeFile(at("x"), "");
    await truncate(at("x"), 64 * 1024 * 1024 + 1);
    await expect(files.readText(at("x"))).rejects.toMatchObject({ code: "EFBIG" });
    await truncate(at("x"), 100_000);
    expect(await files.readText(at("x"))).toHaveLength(100_000);
  });
});

describe("whole files and folders", () => {
  it.each([
    ["with a NUL", "a\0b"],
    ["that is too long", "x".repeat(300)],
    ["that leads too deep", "x/".repeat(3_000)],
    ["below a file", join("file", "x")],
    ["in a circle of links", join("circle", "x")],
  ])("are not there under a name %s", async (_, name) => {
    await writeFile(at("file"), "");
    await symlink("circle", at("circle"));
    const path = at(name);
    for (let times = 0; times < 3; times++) {
      expect(await files.exists(path)).toBe(false);
      expect(await files.readText(path)).toBeUndefined();
      expect(await files.openRead(path)).toBeUndefined();
      expect(await files.list(path)).toEqual([]);
      expect(await files.stamps([path])).toEqual([0, 0, 0]);
      // By then it is known whether the folder is on a local disk.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });

  it("replaces a text with no draft left behind, and reads it", async () => {
    expect(await files.readText(at("s", "x.json"))).toBeUndefined();
    await files.replaceText(at("s", "x.json"), "one");
    await files.replaceText(at("s", "x.json"), "two ✓");
    expect(await files.readText(at("s", "x.json"))).toBe("two ✓");
    expect(await readdir(at("s"))).toEqual(["x.json"]);
    expect((await stat(at("s", "x.json"))).mode & 0o777).toBe(0o600);
  });

  it("keeps symlinks when it replaces a text, also of a file that does not exist yet", async () => {
    await mkdir(at("a"));
    await symlink("../b/y", at("a", "second"));
    await symlink("a/second", at("first"));
    await symlink("cycle", at("cycle"));
    await files.replaceText(at("first"), "one");
    await files.replaceText(at("first"), "two");
    await files.replaceText(at("cycle"), "three");
    expect([await readlink(at("first")), await readlink(at("a", "second"))]).toEqual(["a/second", "../b/y"]);
    expect(await readFile(at("b", "y"), "utf8")).toBe("two");
    expect((await lstat(at("cycle"))).isFile()).toBe(true);
  });

  it.each([
    ["the files of a host", () => files.readText],
    ["the files of a start", () => earlyFiles.readText],
  ])("reads bytes that are not UTF-8 only if that is not strict: %s", async (_, reader) => {
    const readText = reader();
    await writeFile(at("text"), "a = 1 # \uFFFD\n");
    await writeFile(at("latin"), Buffer.from("a = 1\nb = 2 # caf\xe9\n", "latin1"));
    expect(await readText(at("text"), { strict: true })).toBe("a = 1 # \uFFFD\n");
    expect(await readText(at("latin"))).toBe("a = 1\nb = 2 # caf\uFFFD\n");
    await expect(readText(at("latin"), { strict: true })).rejects.toMatchObject({
      code: "EILSEQ",
      message: expect.stringContaining("line 2 is not UTF-8 text"),
    });
  });

  it("does not wait for a pipe while it starts", async () => {
    execFileSync("mkfifo", [at("pipe")]);
    await expect(earlyFiles.readText(at("pipe"))).rejects.toMatchObject({ code: "ENOTFILE" });
    await expect(earlyFiles.readText("/dev/zero")).rejects.toMatchObject({ code: "ENOTFILE" });
    await expect(earlyFiles.readText(at("none"))).resolves.toBeUndefined();
  });

  it("keeps the old text when the new one finds no room", async () => {
    await files.replaceText(at("x"), "old");
    await expect(nodeFiles(writesOf(2, "full")).replaceText(at("x"), "longer")).rejects.toMatchObject({
      code: "ENOSPC",
    });
    expect(await files.readText(at("x"))).toBe("old");
    expect(await readdir(home)).toEqual(["x"]);
  });

  it("lists names, and none where there is no folder", async () => {
    await files.replaceText(at("d", "file"), "x");
    await files.replaceText(at("d", "sub", "file"), "x");
    await files.claim(at("d", "claim"), "me");
    const found = [...(await files.list(at("d")))].sort((a, b) => a.name.localeCompare(b.name));
    expect(found).toEqual([
      { name: "claim", folder: false },
      { name: "file", folder: false },
      { name: "sub", folder: true },
    ]);
    expect(await files.list(at("none"))).toEqual([]);
  });

  it("renames into folders that are not there yet, but makes none for a missing file", async () => {
    await files.replaceText(at("from"), "x");
    await files.rename(at("from"), at("to", "2026", "x"));
    expect(await files.readText(at("to", "2026", "x"))).toBe("x");
    expect(await files.exists(at("from"))).toBe(false);
    await expect(files.rename(at("from"), at("else", "x"))).rejects.toMatchObject({ code: "ENOENT" });
    expect(await files.exists(at("else"))).toBe(false);
  });

  it("erases bytes where they are, and nothing where there is no file", async () => {
    const path = at("lines");
    await writeFile(path, "one\ntwo\nthree\n");
    await files.erase(path, 4, 3);
    expect(await readFile(path, "utf8")).toBe("one\n   \nthree\n");
    await files.erase(at("none"), 4, 3);
    expect(await files.exists(at("none"))).toBe(false);
  });

  it("does not wait for a reader of a pipe in place of the file", async () => {
    execFileSync("mkfifo", [at("pipe")]);
    await expect(files.erase(at("pipe"), 0, 3)).rejects.toMatchObject({ code: "ENXIO" });
  });

  it("removes files, claims and whole folders, and nothing that is not there", async () => {
    await files.replaceText(at("d", "sub", "file"), "x");
    await files.claim(at("d", "claim"), "me");
    await files.remove(at("d", "claim"));
    expect(await files.exists(at("d", "claim"))).toBe(false);
    await files.remove(at("d"));
    await files.remove(at("d"));
    expect(await files.exists(at("d"))).toBe(false);
  });
});

describe("a claim", () => {
  it("is won by one of many, and tells who won", async () => {
    const names = Array.from({ length: 20 }, (_, n) => `host ${n}`);
    const won = await Promise.all(names.map((name) => files.claim(at("live", "t1"), name)));
    expect(won.filter(Boolean)).toHaveLength(1);
    expect(await files.claimed(at("live", "t1"))).toBe(names[won.indexOf(true)]);
    expect(await files.exists(at("live", "t1"))).toBe(true);
    await files.remove(at("live", "t1"));
    expect(await files.claimed(at("live", "t1"))).toBeUndefined();
    expect(await files.claim(at("live", "t1"), "next")).toBe(true);
  });

  it("may be a plain file, as where there are no links, and may be empty", async () => {
    await writeFile(at("t1"), "by a file");
    expect(await files.claim(at("t1"), "me")).toBe(false);
    expect(await files.claimed(at("t1"))).toBe("by a file");
    expect(await files.claim(at("t2"), "")).toBe(true);
    expect(await files.claimed(at("t2"))).toBe("");
  });
});
