// How the journal of one thread is created, moved, removed and closed, on a machine in memory.
import { beforeEach, describe, expect, it } from "vitest";
import type { MemoryFiles } from "../../../../../test/support/memory-files.ts";
import { MemoryJournal, seqsOf, stateAfter } from "../../../../../test/support/memory-journal.ts";
import { type MemoryMachine, settled, threadId } from "../../../../../test/support/memory-machine.ts";
import { firstCommit, renaming } from "../../../../../test/support/test-thread.ts";
import { encodeCommit } from "./commit-format.ts";
import { archivePath, sessionPath } from "./journal-paths.ts";

const T = threadId(900);
const FIRST = firstCommit(T);
const PATH = sessionPath("", T);
const ARCHIVED = archivePath("", T);
const BLOBS = PATH.replace(".jsonl", ".blobs");
const ARCHIVED_BLOBS = ARCHIVED.replace(".jsonl", ".blobs");
const HEAD = { state: stateAfter([FIRST, renaming(2)]), seq: 2 };

let one: MemoryJournal;
let machine: MemoryMachine;
let files: MemoryFiles;
let starts: string;
beforeEach(() => {
  one = new MemoryJournal();
  machine = one.machine;
  files = machine.files;
  starts = `live/${one.host.hostId}.starts`;
});

const openJournals = (): string[] => files.open.filter((path) => path.includes("rollout"));

describe("creating the journal of a started thread", () => {
  it("happens once, for all that wait for it", async () => {
    const journal = await one.started(T);
    files.taken();
    const [read, empty, appended] = await Promise.all([
      seqsOf(journal.forwards()),
      journal.isEmpty(),
      journal.append(renaming(2)),
    ]);
    expect([read, empty, appended.kind]).toEqual([[1], false, "committed"]);
    expect(files.taken().filter((change) => change.includes("rollout"))).toEqual([
      `create ${PATH}`,
      `append ${PATH}`,
      `append ${PATH}`,
    ]);
    expect(await one.host.madeAll()).toBe(true);
  });

  it("reads the line from the start log again if the thread rests", async () => {
    const [journal, bystander] = [await one.started(T), await one.started(threadId(901))];
    await journal.rest();
    expect(openJournals()).toEqual([]);
    await journal.flush();
    expect(files.text(PATH)).toBe(encodeCommit(FIRST).toString());
    expect(await seqsOf(bystander.forwards())).toEqual([1]);
  });

  it.each(["claim", "openAppend", "append"] as const)(
    "is tried again at the next use after a failed %s",
    async (call) => {
      const journal = await one.started(T);
      files.fail(call, call === "claim" ? T : PATH);
      expect(await journal.append(renaming(2))).toMatchObject({ kind: "unknown", cause: { code: "EIO" } });
      expect([files.text(PATH), openJournals()]).toEqual([undefined, []]);
      expect(files.text(starts)).toBe(encodeCommit(FIRST).toString());
      expect(await journal.append(renaming(2))).toMatchObject({ kind: "committed" });
      expect(await seqsOf(journal.forwards())).toEqual([1, 2]);
    },
  );

  it("removes the file if the start log cannot be marked", async () => {
    const journal = await one.started(T);
    files.fail("append", ".starts");
    await expect(journal.flush()).rejects.toMatchObject({ code: "EIO" });
    expect([files.text(PATH), openJournals()]).toEqual([undefined, []]);
    await journal.flush();
    expect(files.text(PATH)).toBe(encodeCommit(FIRST).toString());
  });

  it("uses its own incomplete file that could not be removed", async () => {
    const journal = await one.started(T);
    files.fail("append", ".starts");
    files.fail("remove", PATH);
    await expect(journal.flush()).rejects.toMatchObject({ code: "EIO" });
    expect(files.text(PATH)).toBe(encodeCommit(FIRST).toString());
    await journal.flush();
    expect(files.text(PATH)).toBe(encodeCommit(FIRST).toString());
    expect(openJournals()).toEqual([PATH]);
  });

  it("leaves the file of somebody else that is there after its own was removed", async () => {
    const journal = await one.started(T);
    files.fail("append", ".starts");
    await expect(journal.flush()).rejects.toMatchObject({ code: "EIO" });
    files.put(PATH, "somebody's line\n");
    await expect(journal.flush()).rejects.toMatchObject({ code: "EEXIST" });
    expect(files.text(PATH)).toBe("somebody's line\n");
  });

  it.each([
    ["empty", "", true],
    ["with a part of a line", '{"seq":1', true],
    ["with a line", "somebody's line\n", false],
    ["with a line and more", "somebody's line\n{", false],
  ])("takes a file that a crash left only if it has no line: %s", async (_, content, isTaken) => {
    const journal = await one.started(T);
    files.put(PATH, content);
    if (isTaken) {
      await journal.flush();
      expect([files.text(PATH), openJournals()]).toEqual([encodeCommit(FIRST).toString(), [PATH]]);
    } else {
      await expect(journal.flush()).rejects.toMatchObject({ code: "EEXIST" });
      expect([files.text(PATH), openJournals()]).toEqual([content, []]);
    }
  });

  it("does not call for recovery because of a claim that a dead host left", async () => {
    files.putClaim(`live/${T}`, "a dead host");
    const journal = await one.started(T);
    await journal.flush();
    expect([journal.needsRecovery, files.text(`live/${T}`)]).toEqual([false, one.host.hostId]);
  });

  it("keeps the mark of a thread that needs recovery", async () => {
    const journal = await one.started(T);
    journal.markNeedsRecovery();
    await journal.flush();
    expect(journal.needsRecovery).toBe(true);
    journal.markRecovered();
    expect(journal.needsRecovery).toBe(false);
  });

  it("closes the file at once, and releases the claim, if the thread was closed before", async () => {
    const journal = await one.started(T);
    files.fail("openAppend", PATH);
    await expect(journal.close()).rejects.toMatchObject({ code: "EIO" });
    await settled();
    const reader = (await one.host.read(T))!;
    expect(await seqsOf(reader.forwards())).toEqual([1]);
    await reader.close();
    await settled();
    expect([openJournals(), files.text(`live/${T}`)]).toEqual([[], undefined]);
  });

  it("keeps the file open for its user if others need it, too", async () => {
    const journal = await one.started(T);
    const reader = (await one.host.read(T))!;
    await reader.close();
    expect([openJournals(), files.text(`live/${T}`)]).toEqual([[PATH], one.host.hostId]);
    expect(await journal.append(renaming(2))).toMatchObject({ kind: "committed" });
  });
});

describe("reading a journal", () => {
  it("closes the file after each use, also one that stops early", async () => {
    const journal = await one.started(T, 4);
    await journal.rest();
    for await (const { commit } of journal.forwards()) if (commit.seq === 2) break;
    expect(await seqsOf(journal.backwards())).toEqual([4, 3, 2, 1]);
    expect(await seqsOf(journal.forwards({ seq: 3 }))).toEqual([3, 4]);
    expect(await seqsOf(journal.naming("name 3"))).toEqual([3]);
    expect(await seqsOf(journal.naming("name", { seq: 4 }))).toEqual([4]);
    expect(await journal.isEmpty()).toBe(false);
    expect(openJournals()).toEqual([]);
    files.fail("read", PATH);
    await expect(seqsOf(journal.forwards())).rejects.toMatchObject({ code: "EIO" });
    expect(openJournals()).toEqual([]);
  });

  it("ends at what this host has written", async () => {
    const journal = await one.started(T, 2);
    files.extend(PATH, encodeCommit(renaming(3)).toString());
    expect(await seqsOf(journal.forwards())).toEqual([1, 2]);
  });

  it("fails if the file is gone", async () => {
    const journal = await one.started(T, 2);
    await files.remove(`/home/${PATH}`);
    await expect(seqsOf(journal.forwards())).rejects.toThrow(`the journal /home/${PATH} is gone`);
  });
});

describe("the open file of a journal", () => {
  it("is closed by a rest, once, and opened at the next write", async () => {
    const journal = await one.started(T, 2);
    expect(openJournals()).toEqual([PATH]);
    await Promise.all([journal.rest(), journal.rest()]);
    expect(openJournals()).toEqual([]);
    await journal.append(renaming(3));
    expect(openJournals()).toEqual([PATH]);
  });

  it("is closed by a rest that begins while the file is being created", async () => {
    const journal = await one.started(T);
    const go = files.hold("append", PATH);
    const flushed = journal.flush();
    await settled();
    let isResting = false;
    const rest = journal.rest().then(() => {
      isResting = true;
    });
    await settled();
    expect([isResting, openJournals()]).toEqual([false, [PATH]]);
    go();
    await Promise.allSettled([flushed, rest]);
    await journal.rest();
    expect(openJournals()).toEqual([]);
  });

  it("is not given up while it is created or used; a failure to close it is logged", async () => {
    const journal = await one.started(T);
    expect(journal.letGo()).toBe(false);
    const go = files.hold("append", PATH);
    const appended = journal.append(renaming(2));
    await settled();
    expect(journal.letGo()).toBe(false);
    go();
    await appended;
    const goOn = files.hold("append", PATH);
    const next = journal.append(renaming(3));
    await settled();
    expect(journal.letGo()).toBe(false);
    goOn();
    await next;
    files.fail("close", PATH);
    expect(journal.letGo()).toBe(true);
    await settled();
    expect(one.warnings).toMatchObject([{ message: "closing a journal failed", cause: { code: "EIO" } }]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ["created for a reader", async () => (await one.started(T)).isEmpty()],
    ["created for an append", () => one.started(T, 2)],
    [
      "opened",
      () => {
        files.put(PATH, encodeCommit(FIRST));
        return one.opened(T);
      },
    ],
    [
      "opened again after a rest",
      async () => {
        const journal = await one.started(T, 2);
        await journal.rest();
        await journal.append(renaming(3));
      },
    ],
  ])("is given up when the host ends: %s", async (_, open) => {
    await open();
    expect(openJournals()).toEqual([PATH]);
    await one.host.close();
    await settled();
    expect(openJournals()).toEqual([]);
  });

  it("stays while no more than 256 are open; then the one that was not used for longest is given up", async () => {
    await one.started(T, 2);
    for (let nth = 1; nth <= 256; nth++) await (await one.started(threadId(nth), 2)).rest();
    expect(openJournals()).toEqual([PATH]);
    for (let nth = 301; nth <= 555; nth++) await one.started(threadId(nth), 2);
    expect(openJournals()).toHaveLength(256);
    await one.started(threadId(556), 2);
    await settled();
    expect(openJournals()).toHaveLength(256);
    expect(openJournals()).not.toContain(PATH);
  });
});

describe("the blobs of a thread", () => {
  it("are stored, listed, read and removed beside the journal", async () => {
    const journal = await one.started(T, 2);
    await journal.keep("a1", Buffer.from("one"));
    await journal.keep("b1", Buffer.from("four"));
    expect(await journal.blobs("a")).toEqual([{ name: "a1", bytes: 3 }]);
    expect(Buffer.from((await journal.blob("b1"))!).toString()).toBe("four");
    await journal.removeBlob("a1");
    expect([await journal.blob("a1"), files.under(BLOBS)]).toEqual([undefined, [`${BLOBS}/b1`]]);
  });

  it("fail with `storageFailed`", async () => {
    const journal = await one.started(T, 2);
    const failed = { code: "storageFailed" };
    files.fail("openAppend", BLOBS);
    await expect(journal.keep("a1", Buffer.from("one"))).rejects.toMatchObject(failed);
    files.fail("list", BLOBS);
    await expect(journal.blobs("")).rejects.toMatchObject(failed);
    files.fail("remove", BLOBS);
    await expect(journal.removeBlob("a1")).rejects.toMatchObject(failed);
  });
});

describe("archiving a thread", () => {
  it("moves the journal and the blobs there and back, and indexes the place", async () => {
    const journal = await one.started(T, 2);
    await journal.keep("a1", Buffer.from("one"));
    files.taken();
    await journal.archive(true, HEAD);
    expect(files.taken()).toEqual([`rename ${PATH} ${ARCHIVED}`, `rename ${BLOBS} ${ARCHIVED_BLOBS}`]);
    expect([journal.place, journal.folder]).toEqual([
      { path: `/home/${ARCHIVED}`, archived: true },
      `/home/${ARCHIVED_BLOBS}`,
    ]);
    expect(openJournals()).toEqual([]);
    await journal.append(renaming(3));
    expect(files.text(ARCHIVED)).toContain("name 3");
    await journal.archive(false, { ...HEAD, seq: 3 });
    expect(files.under("archived_sessions")).toEqual([]);
    expect(one.rows).toMatchObject([
      { seq: 2, archived: true, thread: { path: `/home/${ARCHIVED}` } },
      { seq: 3, archived: false, thread: { path: `/home/${PATH}` } },
    ]);
  });

  it("creates the journal of an unused thread first, and moves no blobs where there are none", async () => {
    const journal = await one.started(T);
    await journal.archive(true, { state: stateAfter([FIRST]), seq: 1 });
    expect(files.taken().filter((change) => change.startsWith("rename"))).toEqual([
      `rename ${PATH} ${ARCHIVED}`,
    ]);
    expect(await seqsOf(journal.forwards())).toEqual([1]);
  });

  it("fails with `storageFailed`, and nothing has moved", async () => {
    const journal = await one.started(T, 2);
    files.fail("rename", PATH);
    await expect(journal.archive(true, HEAD)).rejects.toMatchObject({ code: "storageFailed" });
    expect([journal.place.archived, one.indexed]).toEqual([false, []]);
    expect(await journal.append(renaming(3))).toMatchObject({ kind: "committed" });
  });
});

describe("deleting a thread", () => {
  it("removes the index row, then the start, then the blobs, and the journal last, all durably", async () => {
    const journal = await one.started(T, 2);
    await journal.keep("a1", Buffer.from("one"));
    files.taken();
    await journal.destroy();
    await settled();
    expect(one.indexed).toEqual([`forget ${T}`, "flush"]);
    expect(files.taken()).toEqual([
      `sync ${starts}`,
      "sync live",
      `remove ${BLOBS} synced`,
      `remove ${ARCHIVED_BLOBS} synced`,
      `remove ${PATH} synced`,
      `remove live/${T}`,
    ]);
    expect([openJournals(), journal.needsRecovery]).toEqual([[], false]);
    await journal.close();
    await settled();
    expect(files.taken()).toEqual([]);
  });

  it("marks and erases the start of a thread that was never used", async () => {
    const [journal] = [await one.started(T), await one.started(threadId(901))];
    await journal.destroy();
    await settled();
    const erased = " ".repeat(encodeCommit(FIRST).length - 1);
    const other = encodeCommit(firstCommit(threadId(901)));
    expect(files.text(starts)).toBe(`${erased}\n${other}{"made":"${T}"}\n`);
    expect(await one.host.has(T)).toBe(false);
    await journal.close();
    expect(files.under("sessions")).toEqual([]);
  });

  it.each([
    ["the folder of blobs", BLOBS],
    ["the journal", PATH],
  ])("keeps the claim if %s cannot be removed, so that the next start finds the thread", async (_, part) => {
    const journal = await one.started(T, 2);
    files.fail("remove", part);
    await expect(journal.destroy()).rejects.toMatchObject({ code: "storageFailed" });
    await journal.close();
    await settled();
    expect([journal.needsRecovery, files.text(`live/${T}`)]).toEqual([true, one.host.hostId]);
  });
});

it("does not create the journal of a thread whose deletion failed half-way", async () => {
  const journal = await one.started(T);
  files.fail("sync", "live");
  await expect(journal.destroy()).rejects.toMatchObject({ code: "EIO" });
  await journal.close();
  expect(files.under("sessions")).toEqual([]);
});

describe("closing a thread", () => {
  it("creates the journal, closes it and releases the claim, once", async () => {
    const journal = await one.started(T);
    await journal.close();
    await settled();
    expect([openJournals(), files.text(PATH), files.text(`live/${T}`), one.indexed]).toEqual([
      [],
      encodeCommit(FIRST).toString(),
      undefined,
      ["flush"],
    ]);
    await journal.close();
    await settled();
    expect(one.indexed).toEqual(["flush"]);
  });
});
