// The file of new threads, in memory: which lines it has when, and which calls it makes.
import { beforeEach, describe, expect, it } from "vitest";
import { MemoryFiles } from "../../../../../test/support/memory-files.ts";
import { settled, threadId } from "../../../../../test/support/memory-machine.ts";
import { firstCommit } from "../../../../../test/support/test-thread.ts";
import { encodeCommit } from "./commit-format.ts";
import { markMade, StartLog, unmade } from "./thread-start-log.ts";

const [T, U] = [threadId(1), threadId(2)];
const MiB = 1024 * 1024;
const none = async (): Promise<void> => {};
const line = (text: string): Buffer => Buffer.from(`${text}\n`);
const long = (bytes: number): Buffer => line("x".repeat(bytes - 1));

let files: MemoryFiles;
let starts: StartLog;
beforeEach(() => {
  files = new MemoryFiles();
  starts = new StartLog(() => "/home/starts", files);
});

describe("adding a thread", () => {
  it("appends its line to a file that stays open, and returns the offset", async () => {
    expect(await starts.add(T, line("one"), none)).toBe(0);
    expect(await starts.add(U, line("two"), none)).toBe(4);
    expect(files.taken()).toEqual(["create starts", "append starts", "append starts"]);
    expect([files.text("starts"), files.open]).toEqual(["one\ntwo\n", ["starts"]]);
  });

  it.each(["openAppend", "append"] as const)("leaves no thread behind if it fails: %s", async (call) => {
    let asked = 0;
    files.fail(call, "starts");
    const make = async (): Promise<void> => void asked++;
    await expect(starts.add(T, line("one"), make)).rejects.toMatchObject({ code: "EIO" });
    await starts.make(T);
    expect(asked).toBe(0);
    await starts.add(U, line("two"), none);
    await starts.made(U);
    expect(files.text("starts")).toBe("");
  });

  it("asks for the journals of all threads at exactly 4 MiB, and of each further one once", async () => {
    const asked: string[] = [];
    const add = (id: string, bytes: number) => starts.add(id, long(bytes), async () => void asked.push(id));
    await add("a", 2 * MiB);
    await add("b", 2 * MiB - 1);
    expect(asked).toEqual([]);
    await add("c", 1);
    expect(asked).toEqual(["a", "b", "c"]);
    await add("d", 1);
    expect(asked).toEqual(["a", "b", "c", "d"]);
    for (const id of ["a", "b", "c"]) await starts.made(id);
    expect(files.text("starts")!.length).toBeGreaterThan(4 * MiB);
    await starts.made("d");
    expect(files.text("starts")).toBe("");
    await add("e", 4 * MiB);
    await add("f", 1);
    expect(asked.slice(4)).toEqual(["e", "f"]);
  });

  it("asks for all journals again after one could not be made", async () => {
    const asked: string[] = [];
    const failing = async (): Promise<void> => {
      asked.push("failing");
      throw new Error("full");
    };
    await starts.add("a", long(4 * MiB), failing);
    await settled();
    await starts.add("b", long(1), async () => void asked.push("b"));
    expect(asked).toEqual(["failing", "failing", "b"]);
  });
});

describe("the line of a thread", () => {
  it("is read back through one handle", async () => {
    await starts.add(T, line("one"), none);
    const at = await starts.add(U, line("second"), none);
    expect(Buffer.from(await starts.read(at, 7)).toString()).toBe("second\n");
    expect(Buffer.from(await starts.read(0, 4)).toString()).toBe("one\n");
    expect(files.open).toEqual(["starts", "starts"]);
    await starts.close();
    expect(files.open).toEqual([]);
  });

  it("is refused if the file is not as it was written", async () => {
    await starts.add(T, line("one"), none);
    for (const [at, length] of [
      [0, 3],
      [0, 5],
      [1, 4],
      [4, 1],
    ] as const)
      await expect(starts.read(at, length)).rejects.toThrow("/home/starts is not as it was written");
  });

  it("can be read after a failure", async () => {
    await starts.add(T, line("one"), none);
    files.fail("openRead", "starts");
    await expect(starts.read(0, 4)).rejects.toMatchObject({ code: "EIO" });
    expect(Buffer.from(await starts.read(0, 4)).toString()).toBe("one\n");
  });
});

describe("a thread that has its journal", () => {
  it("is marked; with the last one, the file is emptied", async () => {
    await starts.add(T, line("one"), none);
    await starts.add(U, line("two"), none);
    await starts.made(T);
    expect(files.text("starts")).toBe(`one\ntwo\n{"made":"${T}"}\n`);
    let asked = 0;
    await starts.add(T, line("again"), async () => void asked++);
    await starts.make(T);
    expect(asked).toBe(1);
    await starts.made(T);
    await starts.made(U);
    expect(files.text("starts")).toBe("");
    expect(files.taken().at(-1)).toBe("truncate starts 0");
    await starts.make(U);
  });

  it("is marked although the file cannot be emptied, which the next mark does", async () => {
    await starts.add(T, line("one"), none);
    files.fail("truncate", "starts");
    await starts.made(T);
    expect(files.text("starts")).toBe(`one\n{"made":"${T}"}\n`);
    // Its line is still there, so it can still be erased.
    await starts.erase(T);
    expect(files.text("starts")).toBe(`   \n{"made":"${T}"}\n`);
    await starts.made(U);
    expect(files.text("starts")).toBe("");
  });

  it("is not forgotten if the mark fails", async () => {
    let asked = 0;
    await starts.add(T, line("one"), async () => void asked++);
    files.fail("append", "starts");
    await expect(starts.made(T)).rejects.toMatchObject({ code: "EIO" });
    await starts.make(T);
    expect(asked).toBe(1);
  });

  it("does not empty the file if another thread was added meanwhile", async () => {
    await starts.add(T, line("one"), none);
    const go = files.hold("erase", "starts");
    const erased = starts.erase(T);
    await settled();
    const made = starts.made(T);
    await settled();
    await starts.add(U, line("two"), none);
    go();
    await Promise.all([erased, made]);
    expect(files.text("starts")).toBe(`   \n{"made":"${T}"}\ntwo\n`);
  });
});

describe("erasing the line of a thread", () => {
  it("blanks it up to its end, once, and leaves other lines", async () => {
    await starts.add(T, line("one"), none);
    await starts.add(U, line("second"), none);
    files.taken();
    await starts.erase(U);
    expect(files.text("starts")).toBe("one\n      \n");
    await starts.erase(U);
    await starts.erase("unknown");
    expect([files.taken(), files.open]).toEqual([["erase starts 4+6"], ["starts"]]);
  });

  it("does nothing if the file or the line is gone, and can be repeated after a failure", async () => {
    await starts.add(T, line("one"), none);
    files.fail("erase", "starts");
    await expect(starts.erase(T)).rejects.toMatchObject({ code: "EIO" });
    files.fail("size", "starts");
    await expect(starts.erase(T)).rejects.toMatchObject({ code: "EIO" });
    expect(files.open).toEqual(["starts"]);
    files.put("starts", "");
    files.taken();
    await starts.erase(T);
    await starts.add(U, line("two"), none);
    await files.remove("/home/starts");
    await starts.erase(U);
    expect(files.taken().filter((change) => change.startsWith("erase"))).toEqual([]);
    expect(files.open).toEqual(["starts"]);
  });
});

describe("closing the file", () => {
  it("removes it if all its threads have journals", async () => {
    await starts.close();
    expect(files.taken()).toEqual([]);
    await starts.add(T, line("one"), none);
    await starts.made(T);
    files.taken();
    await starts.close();
    expect([files.taken(), files.open]).toEqual([["remove starts"], []]);
  });

  it("leaves it to the next start otherwise, and if it cannot be removed", async () => {
    await starts.add(T, line("one"), none);
    await starts.close();
    expect([files.text("starts"), files.open]).toEqual(["one\n", []]);
    const other = new StartLog(() => "/home/other", files);
    await other.add(U, line("two"), none);
    await other.made(U);
    files.fail("remove", "other");
    await other.close();
    expect(files.text("other")).toBe("");
  });
});

describe("the file of a dead host", () => {
  const start = (id: string): string => encodeCommit(firstCommit(id)).toString();

  it("has no threads if it does not exist or is empty", async () => {
    const nothing = { lines: new Map(), newer: false };
    expect(await unmade(files, "/home/starts")).toEqual(nothing);
    files.put("starts", "");
    expect(await unmade(files, "/home/starts")).toEqual(nothing);
    expect(files.open).toEqual([]);
  });

  it("has the threads without a mark; a thread that was started again counts again", async () => {
    const made = (id: string): string => `{"made":"${id}"}\n`;
    files.put("starts", `${start(T)}${start(U)}${made(T)}${start(threadId(3))}${made(U)}${start(U)}`);
    const { lines, newer } = await unmade(files, "/home/starts");
    expect([...lines].map(([id, bytes]) => [id, Buffer.from(bytes).toString()])).toEqual([
      [threadId(3), start(threadId(3))],
      [U, start(U)],
    ]);
    expect([newer, files.open]).toEqual([false, []]);
    await markMade(files, "/home/starts", lines.keys());
    expect((await unmade(files, "/home/starts")).lines.size).toBe(0);
  });

  it("has no thread in a torn line, in a commit of another kind, or under a strange name", async () => {
    const renamed = encodeCommit({
      seq: 1,
      epoch: 1,
      prev: 0,
      records: [{ type: "renamed", at: 1, name: "x" }],
    });
    const empty = encodeCommit({ seq: 1, epoch: 1, prev: 0, records: [] });
    files.put("starts", `${renamed}${empty}${start("../x")}junk\n${start(T).slice(0, -1)}`);
    expect(await unmade(files, "/home/starts")).toEqual({ lines: new Map(), newer: false });
  });

  it("is closed if it cannot be read or marked", async () => {
    files.put("starts", start(T));
    files.fail("read", "starts");
    await expect(unmade(files, "/home/starts")).rejects.toMatchObject({ code: "EIO" });
    files.fail("fsync", "starts");
    await expect(markMade(files, "/home/starts", [T])).rejects.toMatchObject({ code: "EIO" });
    expect(files.open).toEqual([]);
  });
});
