// The journals of a home, on a machine in memory: how they are found, opened, read, stored and listed.
import { beforeEach, describe, expect, it } from "vitest";
import type { MemoryFiles } from "../../../../../test/support/memory-files.ts";
import { MemoryJournal, seqsOf, stateAfter } from "../../../../../test/support/memory-journal.ts";
import { type MemoryMachine, settled, threadId } from "../../../../../test/support/memory-machine.ts";
import { firstCommit, renaming } from "../../../../../test/support/test-thread.ts";
import type { Commit } from "../../core/records.ts";
import { encodeCommit } from "./commit-format.ts";
import { archivePath, sessionPath } from "./journal-paths.ts";

const [T, U] = [threadId(900), threadId(902)];
const DEAD = threadId(901);
const PATH = sessionPath("", T);
const ARCHIVED = archivePath("", T);
const FOLDER = "sessions/2025/11/15";
const FIRST = encodeCommit(firstCommit(T)).toString();
const TWO = `${FIRST}${encodeCommit(renaming(2))}`;

let one: MemoryJournal;
let machine: MemoryMachine;
let files: MemoryFiles;
beforeEach(() => {
  one = new MemoryJournal();
  machine = one.machine;
  files = machine.files;
});

/** Reads a thread as a client without a claim does. */
async function read(id = T): Promise<number[] | undefined> {
  const reader = await one.host.read(id);
  if (reader === undefined) return undefined;
  try {
    return await seqsOf(reader.forwards());
  } finally {
    await reader.close();
  }
}

/** The threads that a dead host acknowledged. */
function leftByDead(...ids: string[]): void {
  files.put(`live/${DEAD}.starts`, ids.map((id) => encodeCommit(firstCommit(id)).toString()).join(""));
}

describe("a thread that a dead host acknowledged", () => {
  it("gets its journal when it is looked for, synced and closed", async () => {
    leftByDead(T);
    expect(await one.host.has(T)).toBe(false);
    expect(await read()).toEqual([1]);
    expect(await one.host.has(T)).toBe(true);
    expect(files.taken().slice(3)).toEqual([
      `claim live/${T} ${DEAD}`,
      `create ${PATH}`,
      `append ${PATH}`,
      `fsync ${PATH}`,
      `remove live/${DEAD}.starts synced`,
    ]);
    expect(files.open).toEqual([]);
  });

  it.each([
    ["a torn line is replaced", PATH, FIRST.slice(0, 9), FIRST, 9],
    ["an empty file gets the line", PATH, "", FIRST, 0],
    ["a whole line stays", PATH, TWO, TWO, 0],
    ["a torn line after a whole one stays, as it may be being written", PATH, `${TWO}{`, `${TWO}{`, 0],
    ["an archived journal stays", ARCHIVED, TWO, TWO, 0],
  ])("has one journal: %s", async (_, path, before, after, cut) => {
    files.put(path, before);
    leftByDead(T);
    await one.host.abandoned();
    expect(files.under().filter((name) => name.includes("sessions"))).toEqual([path]);
    expect(files.text(path)).toBe(after);
    expect(files.taken()).toContain(`fsync ${path}`);
    expect(one.warnings).toEqual(
      cut > 0 ? [{ message: "cut a torn last line", path: `/home/${path}`, bytes: cut }] : [],
    );
  });

  it.each(["ENOTFILE", "EISDIR", "ENXIO", "ELOOP"])(
    "does not keep others from their journals if its path is no file (%s)",
    async (code) => {
      leftByDead(T, U);
      files.fail("openAppend", PATH, { code });
      expect(await one.host.abandoned()).toEqual([T, U]);
      expect([await one.host.has(T), await one.host.has(U)]).toEqual([false, true]);
      expect(one.warnings).toMatchObject([
        {
          message: "a new thread has no journal: its path is not a regular file",
          path: `/home/${PATH}`,
          cause: { code },
        },
      ]);
    },
  );

  it("stays in the start log while the disk fails", async () => {
    leftByDead(T);
    files.fail("openAppend", PATH);
    await expect(one.host.abandoned()).rejects.toMatchObject({ code: "EIO" });
    files.fail("append", PATH);
    await expect(one.host.abandoned()).rejects.toMatchObject({ code: "EIO" });
    expect(files.open).toEqual([]);
    expect(await one.host.abandoned()).toEqual([T]);
  });
});

describe("reading a thread", () => {
  it("finds it in either place, or not at all", async () => {
    expect(await read()).toBeUndefined();
    files.put(PATH, TWO);
    expect(await read()).toEqual([1, 2]);
    await files.rename(`/home/${PATH}`, `/home/${ARCHIVED}`);
    const reader = (await one.host.read(T))!;
    expect(reader.place).toEqual({ path: `/home/${ARCHIVED}`, archived: true });
    files.put(ARCHIVED.replace(".jsonl", ".blobs/b"), "blob");
    expect(Buffer.from((await reader.blob("b"))!).toString()).toBe("blob");
    await reader.close();
    expect(files.open).toEqual([]);
  });

  it("finds one that this host has only acknowledged", async () => {
    const journal = await one.started(T);
    expect(await read()).toEqual([1]);
    expect(await journal.append(renaming(2))).toMatchObject({ kind: "committed" });
  });

  it("finds one that is archived meanwhile", async () => {
    files.put(PATH, TWO);
    const go = files.hold("openRead", PATH);
    const found = read();
    await settled();
    await files.rename(`/home/${PATH}`, `/home/${ARCHIVED}`);
    go();
    expect(await found).toEqual([1, 2]);
  });

  it("finds none that is deleted meanwhile", async () => {
    files.put(PATH, TWO);
    const go = files.hold("openRead", PATH);
    const found = read();
    await settled();
    await files.remove(`/home/${PATH}`);
    go();
    expect(await found).toBeUndefined();
  });

  it("takes up an empty file from the start log of a dead host, and closes what it opened", async () => {
    files.put(PATH, "");
    leftByDead(T);
    expect(await read()).toEqual([1]);
    files.put(sessionPath("", U), "");
    expect(await read(U)).toEqual([]);
    expect(files.open).toEqual([]);
  });

  it.each([
    ["ENOTFILE", "journalDamaged"],
    ["EIO", "EIO"],
  ])("fails with the right code: %s", async (code, expected) => {
    files.put(PATH, TWO);
    files.fail("openRead", PATH, { code });
    await expect(one.host.read(T)).rejects.toMatchObject({ code: expected });
  });

  it("closes the file if its end cannot be found", async () => {
    files.put(PATH, TWO);
    files.fail("size", PATH);
    await expect(one.host.read(T)).rejects.toMatchObject({ code: "EIO" });
    expect(files.open).toEqual([]);
  });
});

describe("opening a thread", () => {
  it("gives a journal that continues the file", async () => {
    expect(await one.host.open(T)).toBeUndefined();
    expect(files.taken()).toEqual([]);
    files.put(PATH, TWO);
    const journal = await one.opened(T);
    expect(await journal.append(renaming(3))).toMatchObject({ kind: "committed" });
    expect([journal.place.archived, journal.needsRecovery]).toEqual([false, false]);
    expect(files.text(`live/${T}`)).toBe(one.host.hostId);
  });

  it("names the living host that holds it", async () => {
    files.put(PATH, TWO);
    files.putClaim(`live/${T}`, DEAD);
    machine.revive(DEAD);
    const opened = one.host.open(T);
    await machine.pass(600);
    expect(await opened).toEqual({ kind: "held", by: DEAD });
    expect(files.open).toEqual([]);
  });

  it.each([
    ["a torn line after whole ones", `${TWO}{"seq":3`, TWO, 8],
    ["only a torn line", "torn", "", 4],
  ])("cuts %s, and says so", async (_, before, after, bytes) => {
    files.put(PATH, before);
    await one.opened(T);
    expect(files.text(PATH)).toBe(after);
    expect(one.warnings).toEqual([{ message: "cut a torn last line", path: `/home/${PATH}`, bytes }]);
    expect(files.open).toEqual([PATH]);
    expect(machine.acquired).toContain("live/takeover.lock");
  });

  it("restores a torn first line from the start log of a dead host", async () => {
    files.put(PATH, FIRST.slice(0, 20));
    leftByDead(T);
    const journal = await one.opened(T);
    expect(await seqsOf(journal.forwards())).toEqual([1]);
    expect(files.open).toEqual([PATH]);
  });

  it("releases the claim if the thread is gone by then", async () => {
    files.put(PATH, TWO);
    const go = files.hold("claim", T);
    const opened = one.host.open(T);
    await settled();
    await files.remove(`/home/${PATH}`);
    go();
    expect(await opened).toBeUndefined();
    await settled();
    expect(await one.host.held()).toEqual([]);
  });

  it("finds the thread that is archived by then", async () => {
    files.put(PATH, TWO);
    const go = files.hold("claim", T);
    const opened = one.host.open(T);
    await settled();
    await files.rename(`/home/${PATH}`, `/home/${ARCHIVED}`);
    go();
    expect(await opened).toMatchObject({ kind: "mine", journal: { place: { archived: true } } });
  });

  it.each([
    ["openAppend", "EIO", "storageFailed"],
    ["openAppend", "EISDIR", "journalDamaged"],
    ["read", "EIO", "storageFailed"],
  ] as const)("releases the claim and closes the file if it fails: %s, %s", async (call, code, expected) => {
    files.put(PATH, TWO);
    files.fail(call, PATH, { code });
    await expect(one.host.open(T)).rejects.toMatchObject({ code: expected });
    await settled();
    expect([await one.host.held(), files.open]).toEqual([[], []]);
  });

  it("closes the file if its torn line cannot be cut", async () => {
    files.put(PATH, `${TWO}{`);
    files.fail("truncate", PATH);
    await expect(one.host.open(T)).rejects.toMatchObject({ code: "storageFailed" });
    expect(files.open).toEqual([]);
  });
});

describe("storing a whole thread", () => {
  const COMMITS = [firstCommit(T), renaming(2)];
  const STATE = stateAfter(COMMITS);
  async function* each(commits: readonly Commit[]): AsyncIterable<Commit> {
    yield* commits;
  }
  const bring = (archived = false, state: () => typeof STATE | undefined = () => STATE) =>
    one.host.bring(T, each(COMMITS), { archived, state });

  it("writes a draft, renames it, syncs all names, indexes the thread and releases the claim", async () => {
    expect(await bring()).toEqual({ path: `/home/${PATH}`, archived: false });
    await settled();
    const draft = `incoming/${T}.jsonl`;
    expect(files.taken().slice(3)).toEqual([
      `claim live/${T} ${one.host.hostId}`,
      `create ${draft}`,
      `append ${draft}`,
      `fsync ${draft}`,
      `rename ${draft} ${PATH} unsynced`,
      `sync ${FOLDER}`,
      "sync sessions/2025/11",
      "sync sessions/2025",
      "sync sessions",
      "sync /home",
      `remove live/${T}`,
    ]);
    expect(files.text(PATH)).toBe(TWO);
    expect(one.indexed).toEqual(["record 2", "flush"]);
    expect(one.rows).toMatchObject([{ archived: false, thread: { name: "name 2", path: `/home/${PATH}` } }]);
    expect(await one.host.madeAll()).toBe(true);
  });

  it("syncs the names of folders once", async () => {
    await bring();
    await settled();
    files.taken();
    const commits = each([firstCommit(U)]);
    await one.host.bring(U, commits, { archived: false, state: () => STATE });
    expect(files.taken().filter((change) => change.startsWith("sync"))).toEqual([`sync ${FOLDER}`]);
  });

  it("stores it in the archive", async () => {
    expect(await bring(true)).toEqual({ path: `/home/${ARCHIVED}`, archived: true });
    expect(files.text(ARCHIVED)).toBe(TWO);
    expect(one.rows).toMatchObject([{ archived: true }]);
    expect(files.taken().filter((change) => change.startsWith("sync"))).toEqual([
      "sync archived_sessions",
      "sync /home",
    ]);
  });

  it.each<[string, () => void, () => Promise<unknown>]>([
    ["there is one already", () => files.put(ARCHIVED, "old"), () => bring()],
    ["it is not wanted after all", () => {}, () => bring(false, () => undefined)],
  ])("stores nothing if %s", async (_, prepare, act) => {
    prepare();
    const before = files.under().filter((path) => path.includes("sessions"));
    expect(await act()).toBeUndefined();
    await settled();
    expect(files.under().filter((path) => path.includes(T))).toEqual(before);
    expect([one.indexed, await one.host.held()]).toEqual([["flush"], []]);
  });

  it("fails if another host has the thread, or the disk fails", async () => {
    files.fail("rename", "incoming");
    await expect(bring()).rejects.toMatchObject({ code: "storageFailed" });
    await settled();
    expect(await one.host.held()).toEqual([]);
    files.putClaim(`live/${T}`, DEAD);
    machine.revive(DEAD);
    const failed = expect(bring()).rejects.toMatchObject({ code: "heldElsewhere" });
    await machine.pass(600);
    await failed;
    expect(files.text(`live/${T}`)).toBe(DEAD);
  });
});

describe("making a thread durable", () => {
  it("syncs the file and every folder up to the home, and closes what it opened", async () => {
    await one.host.flush(T);
    expect(files.taken()).toEqual([]);
    files.put(PATH, TWO);
    await one.host.flush(T);
    const parts = [PATH, FOLDER, "sessions/2025/11", "sessions/2025", "sessions"];
    expect(files.taken()).toEqual(parts.map((part) => `sync ${part}`));
    expect(files.open).toEqual([]);
    files.fail("sync", FOLDER);
    await expect(one.host.flush(T)).rejects.toMatchObject({ code: "storageFailed" });
  });
});
