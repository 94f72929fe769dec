// Appends to the journal of one thread, on a machine in memory.
import { beforeEach, describe, expect, it } from "vitest";
import type { MemoryFiles } from "../../../../../test/support/memory-files.ts";
import { MemoryJournal, seqsOf, stateAfter } from "../../../../../test/support/memory-journal.ts";
import { settled, threadId } from "../../../../../test/support/memory-machine.ts";
import { firstCommit, renaming } from "../../../../../test/support/test-thread.ts";
import type { Commit } from "../../core/records.ts";
import { encodeCommit } from "./commit-format.ts";
import { sessionPath } from "./journal-paths.ts";

const T = threadId(900);
const FIRST = firstCommit(T);
const lengthOf = (...commits: Commit[]): number =>
  commits.reduce((sum, commit) => sum + encodeCommit(commit).length, 0);
const textOf = (...commits: Commit[]): string =>
  commits.map((commit) => encodeCommit(commit).toString()).join("");

let one: MemoryJournal;
let files: MemoryFiles;
let path: string;
let starts: string;
beforeEach(() => {
  one = new MemoryJournal();
  files = one.machine.files;
  path = sessionPath("", T);
  starts = `live/${one.host.hostId}.starts`;
});

const COMMITTED = (bytes: number) => ({ kind: "committed", bytes });

describe("the first append of a thread", () => {
  it("writes nothing without a commit", async () => {
    const journal = await one.host.create(T);
    files.taken();
    expect(await journal.append([])).toEqual(COMMITTED(0));
    expect(await journal.append([], "synced", stateAfter([FIRST]))).toEqual(COMMITTED(0));
    expect([files.taken(), one.indexed]).toEqual([[], []]);
  });

  it("writes one line to the start log", async () => {
    const journal = await one.host.create(T);
    expect(await journal.append(FIRST)).toEqual(COMMITTED(lengthOf(FIRST)));
    expect(files.taken()).toEqual([`create ${starts}`, `append ${starts}`]);
    expect(files.text(starts)).toBe(textOf(FIRST));
    expect(journal.place).toEqual({ path: `/home/${path}`, archived: false });
    expect(journal.folder).toBe(`/home/${path.replace(".jsonl", ".blobs")}`);
  });

  it("creates the journal if it must survive a power cut: claim, file, line, mark, fsync", async () => {
    const journal = await one.host.create(T);
    expect(await journal.append(FIRST, "synced")).toEqual(COMMITTED(lengthOf(FIRST)));
    expect(files.taken().filter((change) => !change.includes("boot.mark"))).toEqual([
      `create ${starts}`,
      `append ${starts}`,
      `claim live/${T} ${one.host.hostId}`,
      `create ${path}`,
      `append ${path}`,
      `append ${starts}`,
      `truncate ${starts} 0`,
      `fsync ${path}`,
    ]);
    expect(files.text(path)).toBe(textOf(FIRST));
  });

  it("creates the journal for further commits, and counts the bytes of all", async () => {
    const journal = await one.host.create(T);
    const commits = [FIRST, renaming(2), renaming(3)];
    const state = stateAfter(commits);
    expect(await journal.append(commits, "written", state)).toEqual(COMMITTED(lengthOf(...commits)));
    expect(files.text(path)).toBe(textOf(...commits));
    expect(files.taken()).not.toContain(`fsync ${path}`);
    expect(one.rows).toMatchObject([{ seq: 3, thread: { name: "name 3", path: `/home/${path}` } }]);
  });

  it("reports why further commits were refused, and indexes none", async () => {
    const journal = await one.host.create(T);
    const state = stateAfter([FIRST, renaming(3)]);
    expect(await journal.append([FIRST, renaming(3)], "written", state)).toEqual({ kind: "conflict" });
    expect(one.indexed).toEqual([]);
  });

  it("fails with the start log, and can be repeated", async () => {
    const journal = await one.host.create(T);
    files.fail("append", ".starts");
    expect(await journal.append(FIRST)).toMatchObject({
      kind: "unknown",
      of: "write",
      cause: { code: "EIO" },
    });
    expect(await journal.settle([FIRST])).toBe(0);
    expect(await journal.append(FIRST)).toEqual(COMMITTED(lengthOf(FIRST)));
    expect(await journal.settle([FIRST, renaming(2)])).toBe(1);
  });
});

describe("a further append", () => {
  it("adds a line, without fsync unless it is wanted", async () => {
    const journal = await one.started(T, 2);
    files.taken();
    expect(await journal.append(renaming(3))).toEqual(COMMITTED(lengthOf(renaming(3))));
    expect(files.taken()).toEqual([`append ${path}`]);
    expect(await journal.append(renaming(4), "synced")).toEqual(COMMITTED(lengthOf(renaming(4))));
    expect(files.taken()).toEqual([`append ${path}`, `fsync ${path}`]);
    expect(await journal.append([], "synced")).toEqual(COMMITTED(0));
    await journal.flush();
    expect(files.taken()).toEqual([`fsync ${path}`, `fsync ${path}`]);
    expect(await seqsOf(journal.forwards())).toEqual([1, 2, 3, 4]);
  });

  it("waits for the size of the file where that takes a while", async () => {
    const journal = await one.started(T, 2);
    files.sizesLate = true;
    expect(await journal.append(renaming(3))).toMatchObject({ kind: "committed" });
    files.extend(path, "theirs\n");
    expect(await journal.append(renaming(4))).toEqual({ kind: "conflict" });
  });

  it("indexes the state that it gets, once per batch", async () => {
    const journal = await one.started(T, 2);
    const commits = [FIRST, renaming(2), renaming(3), renaming(4)];
    await journal.append(renaming(3));
    await journal.append([], "written", stateAfter(commits.slice(0, 3)));
    expect(one.indexed).toEqual([]);
    await journal.append(renaming(4), "written", stateAfter(commits));
    expect(one.rows).toMatchObject([{ seq: 4, thread: { name: "name 4" } }]);
  });

  const loaded = (seq: number, ...types: string[]): Commit => {
    const records = types.map((type) => ({ type, at: seq })) as unknown as Commit["records"];
    return { seq, epoch: 1, prev: seq - 1, records };
  };
  it.each<[string, Commit[], boolean]>([
    ["keeps", [loaded(3, "opened", "notified")], true],
    ["keeps", [loaded(3, "closed"), loaded(4, "checkpoint")], true],
    ["changes", [loaded(3, "opened", "renamed")], false],
    ["changes", [loaded(3, "opened"), renaming(4)], false],
  ])("%s the time of the file (case %#)", async (_, commits, keeps) => {
    const journal = await one.started(T, 2);
    files.taken();
    await journal.append(commits);
    expect(files.taken()).toEqual([`append ${path}${keeps ? " keepTime" : ""}`]);
  });

  it("must follow the last commit, whether it was written, read, or is only stored", async () => {
    let journal = await one.started(T, 3);
    for (const wrong of [2, 3, 5])
      expect(await journal.append(renaming(wrong))).toEqual({ kind: "conflict" });
    expect(await journal.append(renaming(4))).toMatchObject({ kind: "committed" });
    await journal.close();
    journal = await one.opened(T);
    for (const wrong of [4, 6]) expect(await journal.append(renaming(wrong))).toEqual({ kind: "conflict" });
    expect(await journal.append(renaming(5))).toMatchObject({ kind: "committed" });
    await journal.close();
    journal = await one.opened(T);
    for await (const _ of journal.backwards()) break;
    files.fail("read", path, { times: 9 });
    expect(await journal.append(renaming(7))).toEqual({ kind: "conflict" });
    expect(await journal.append(renaming(6))).toMatchObject({ kind: "committed" });
  });

  it("follows the highest number where a line is repeated at the end", async () => {
    files.put(path, textOf(FIRST, renaming(2), renaming(3), renaming(2)));
    const journal = await one.opened(T);
    expect(await seqsOf(journal.backwards())).toEqual([2, 3, 2, 1]);
    expect(await journal.append(renaming(3))).toEqual({ kind: "conflict" });
    expect(await journal.append(renaming(4))).toMatchObject({ kind: "committed" });
  });

  it("may be the first commit of a file in which no commit is readable", async () => {
    files.put(path, "junk\n");
    const journal = await one.opened(T);
    expect(await journal.append(renaming(2))).toEqual({ kind: "conflict" });
    expect(await journal.append(FIRST)).toMatchObject({ kind: "committed" });
  });

  it("ignores what was read from the middle of the journal", async () => {
    files.put(path, textOf(FIRST, renaming(2), renaming(3)));
    const journal = await one.opened(T);
    expect(await seqsOf(journal.backwards({ seq: 2 }))).toEqual([2, 1]);
    expect(await journal.append(renaming(4))).toMatchObject({ kind: "committed" });
  });

  it.each([
    ["append", "write"],
    ["fsync", "sync"],
  ] as const)("names what failed, and opens the file again: %s", async (call, of) => {
    const journal = await one.started(T, 2);
    files.fail(call, path);
    const state = stateAfter([FIRST, renaming(2), renaming(3)]);
    expect(await journal.append(renaming(3), "synced", state)).toMatchObject({ kind: "unknown", of });
    expect([one.indexed, files.open.includes(path), journal.letGo()]).toEqual([[], false, true]);
    const there = of === "sync" ? 3 : 2;
    expect(await seqsOf(journal.forwards())).toHaveLength(there);
    expect(await journal.append(renaming(there + 1))).toMatchObject({ kind: "committed" });
    expect(files.open.filter((open) => open === path)).toHaveLength(1);
  });

  it("names the write if the last commit cannot be read", async () => {
    files.put(path, textOf(FIRST));
    const journal = await one.opened(T);
    files.fail("openRead", path);
    expect(await journal.append(renaming(2))).toMatchObject({ kind: "unknown", of: "write" });
  });
});

describe("an append to a file that someone else has written to", () => {
  it("is a conflict, and the thread stays if the claim does", async () => {
    const journal = await one.started(T, 2);
    files.extend(path, "theirs\n");
    expect(await journal.append(renaming(3))).toEqual({ kind: "conflict" });
    expect([one.lost, await journal.isHeld()]).toEqual([[], true]);
    expect(files.text(path)).toBe(`${textOf(FIRST, renaming(2))}theirs\n`);
  });

  it("is a conflict, and the thread is lost if another host has claimed it", async () => {
    const journal = await one.started(T, 2);
    files.extend(path, "theirs\n");
    files.putClaim(`live/${T}`, "thief");
    expect(await journal.append(renaming(3))).toEqual({ kind: "conflict" });
    expect([one.lost, await journal.isHeld(), one.lost]).toEqual([[T], false, [T]]);
    const lost = { code: "storageFailed", message: expect.stringContaining("another host has the thread") };
    await expect(journal.archive(true, { state: stateAfter([FIRST]), seq: 2 })).rejects.toMatchObject(lost);
    await expect(journal.destroy()).rejects.toMatchObject(lost);
    await journal.close();
    await settled();
    expect(files.text(`live/${T}`)).toBe("thief");
    expect(one.indexed).toEqual([]);
  });
});

describe("asking whether the thread is held", () => {
  it("finds out without a write, once", async () => {
    const journal = await one.started(T, 2);
    expect(await journal.isHeld()).toBe(true);
    files.putClaim(`live/${T}`, "thief");
    files.fail("claimed", T);
    expect([await journal.isHeld(), one.lost]).toEqual([true, []]);
    expect([await journal.isHeld(), one.lost]).toEqual([false, [T]]);
    expect([await journal.isHeld(), one.lost]).toEqual([false, [T]]);
  });

  it("answers whether it is held in the order of the calls, whichever read ends first", async () => {
    const journal = await one.started(T, 2);
    const answers: string[] = [];
    const go = files.hold("claimed", T);
    const first = journal.isHeld().then(() => answers.push("first"));
    const second = journal.isHeld().then(() => answers.push("second"));
    await settled();
    expect(answers).toEqual([]);
    go();
    await Promise.all([first, second]);
    expect(answers).toEqual(["first", "second"]);
  });
});

describe("settling an append", () => {
  const THREE = [renaming(3), renaming(4), renaming(5)];
  const ALL = textOf(...THREE);
  const ENDS = [1, 2, 3].map((count) => lengthOf(...THREE.slice(0, count)));

  it.each([
    ["nothing", 0, 0, 0],
    ["a part of the first line", 5, 0, 0],
    ["the first line without its end", ENDS[0]! - 1, 0, 0],
    ["the first line", ENDS[0]!, 1, ENDS[0]!],
    ["the first line and a byte", ENDS[0]! + 1, 1, ENDS[0]!],
    ["two lines", ENDS[1]!, 2, ENDS[1]!],
    ["all but the last byte", ENDS[2]! - 1, 2, ENDS[1]!],
    ["everything", ENDS[2]!, 3, ENDS[2]!],
  ])("keeps whole lines: %s was written", async (_, bytes, there, left) => {
    const journal = await one.started(T, 2);
    files.fail("append", path);
    expect(await journal.append(THREE)).toMatchObject({ kind: "unknown", of: "write" });
    files.extend(path, ALL.slice(0, bytes));
    const state = stateAfter([FIRST, renaming(2), ...THREE]);
    expect(await journal.settle(THREE, state)).toBe(there);
    expect(files.text(path)).toBe(`${textOf(FIRST, renaming(2))}${ALL.slice(0, left)}`);
    const cut = { message: "cut a torn last line", path: `/home/${path}`, bytes: bytes - left };
    expect(one.warnings).toEqual(bytes === left ? [] : [cut]);
    expect(one.indexed).toEqual(there === 0 ? [] : [`record ${2 + there}`]);
    expect(files.open).toEqual([starts, path]);
    expect(await journal.append(THREE.slice(there))).toMatchObject({ kind: "committed" });
    expect(await seqsOf(journal.forwards())).toEqual([1, 2, 3, 4, 5]);
  });

  it.each([
    ["other bytes are there", () => files.extend(path, "x")],
    ["more is there than was written", () => files.extend(path, `${ALL}x`)],
    ["less is there than before", () => files.put(path, "")],
    ["the file is gone", () => void files.remove(`/home/${path}`)],
  ])("throws if %s, and leaves the file as it is", async (_, act) => {
    const journal = await one.started(T, 2);
    files.fail("append", path);
    await journal.append(THREE);
    act();
    await settled();
    const before = files.text(path) ?? "";
    await expect(journal.settle(THREE)).rejects.toThrow("another process has appended to the journal");
    expect([files.text(path), files.open.filter((open) => open === path)]).toEqual([before, []]);
  });
});
