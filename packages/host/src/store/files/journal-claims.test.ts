// The threads and claims that a home reports, on a machine in memory.
import { beforeEach, describe, expect, it } from "vitest";
import type { MemoryFiles } from "../../../../../test/support/memory-files.ts";
import { MemoryJournal } from "../../../../../test/support/memory-journal.ts";
import { type MemoryMachine, settled, threadId } from "../../../../../test/support/memory-machine.ts";
import { firstCommit } from "../../../../../test/support/test-thread.ts";
import { encodeCommit } from "./commit-format.ts";
import { archivePath, sessionPath } from "./journal-paths.ts";

const [T, U] = [threadId(900), threadId(902)];
const OTHER = threadId(901);

let one: MemoryJournal;
let machine: MemoryMachine;
let files: MemoryFiles;
beforeEach(() => {
  one = new MemoryJournal();
  machine = one.machine;
  files = machine.files;
});

it("lists the journals of the year's folders and of the archive, and no other files", async () => {
  const name = sessionPath("", T).split("/").at(-1)!;
  files.put(sessionPath("", T), "x");
  files.put(archivePath("", U), "x");
  for (const path of [
    "sessions/2025/11/15/notes.txt",
    "sessions/2025/11/15/rollout-2025-11-15T21-03-53-not-an-id.jsonl",
    `sessions/2025/11/15/deeper/${name}`,
    `archived_sessions/2025/${name}`,
    `incoming/${name}`,
  ])
    files.put(path, "x");
  const found = [];
  for await (const thread of one.host.threads()) found.push(thread);
  expect(found).toEqual([
    { id: T, archived: false },
    { id: U, archived: true },
  ]);
});

it("resolves paths in the home and elsewhere, and finds the thread in the name", () => {
  const path = sessionPath("/home", T);
  expect(one.host.resolvePath(path)).toEqual({ path, threadId: T });
  expect(one.host.resolvePath(sessionPath("", T))).toEqual({ path, threadId: T });
  expect(one.host.resolvePath("notes.txt")).toEqual({ path: "/home/notes.txt", threadId: undefined });
  expect(one.host.resolvePath("/a/../b")).toEqual({ path: "/b", threadId: undefined });
});

describe("the host that has a thread", () => {
  it("is known for one thread and for many; while that cannot be read, none is", async () => {
    machine.revive(OTHER);
    files.putClaim(`live/${T}`, OTHER);
    files.putClaim(`live/${U}`, "a dead host");
    expect(await one.host.holder(T)).toBe(OTHER);
    expect(await one.host.holder(U)).toBeUndefined();
    files.fail("list", "live");
    expect(await one.host.holders([T, U])).toEqual(new Map());
    expect(await one.host.holders([T, U])).toEqual(new Map([[T, OTHER]]));
    files.fail("claimed", T);
    expect(await one.host.holder(T)).toBeUndefined();
  });

  it("learns that it has lost a thread, with all its listeners", async () => {
    const lost: string[] = [];
    one.host.onLost((id) => void lost.push(`second ${id}`));
    const journal = await one.started(T, 2);
    files.putClaim(`live/${T}`, OTHER);
    await journal.isHeld();
    expect([one.lost, lost]).toEqual([[T], [`second ${T}`]]);
  });
});

describe("the claims of dead hosts", () => {
  it("include those of threads that are only in their start logs", async () => {
    files.put(`live/${OTHER}.starts`, encodeCommit(firstCommit(T)));
    expect(await one.host.abandoned()).toEqual([T]);
    expect(await one.host.held()).toEqual([T]);
  });

  it("are removed for a thread that no longer exists, after the index is flushed", async () => {
    files.putClaim(`live/${T}`, OTHER);
    await one.host.disown(T);
    await settled();
    expect([await one.host.held(), one.indexed]).toEqual([[], ["flush"]]);
  });

  it("are not removed while their host lives", async () => {
    files.putClaim(`live/${T}`, OTHER);
    machine.revive(OTHER);
    const failed = expect(one.host.disown(T)).rejects.toMatchObject({ code: "heldElsewhere" });
    await machine.pass(600);
    await failed;
    expect(files.text(`live/${T}`)).toBe(OTHER);
  });
});

describe("a power cut", () => {
  it("is known by the boot mark, until all threads are recovered and indexed", async () => {
    expect(await one.host.needsFullRecovery()).toBe(false);
    files.put("live/boot.mark", "boot 0");
    one = new MemoryJournal(machine);
    expect(await one.host.needsFullRecovery()).toBe(true);
    await one.host.markFullyRecovered();
    expect([await one.host.needsFullRecovery(), one.indexed]).toEqual([false, ["flush"]]);
    expect(files.text("live/boot.mark")).toBe("boot 1");
  });
});

describe("the key of a start", () => {
  it("is kept for the first thread, until it is released; failures are `storageFailed`", async () => {
    expect(await one.host.reserve("key", T)).toBe(T);
    expect(await one.host.reserve("key", U)).toBe(T);
    await one.host.release("key");
    expect(await one.host.reserve("key", U)).toBe(U);
    files.fail("claim", "start_keys");
    await expect(one.host.reserve("next", T)).rejects.toMatchObject({ code: "storageFailed" });
    files.fail("remove", "start_keys");
    await expect(one.host.release("key")).rejects.toMatchObject({ code: "storageFailed" });
  });
});

describe("a host", () => {
  it("is announced before its first thread, and a failure of that is `storageFailed`", async () => {
    machine.announceFailure = new Error("no lock");
    await expect(one.host.create(T)).rejects.toMatchObject({ code: "storageFailed" });
    machine.announceFailure = undefined;
    await one.host.create(T);
    expect(files.under("live")).toEqual([`live/${one.host.hostId}.lock`]);
    await one.host.leave();
    expect(files.under("live")).toContain(`live/${one.host.hostId}.leaving`);
    expect(await one.host.exclusively(async () => "result")).toBe("result");
    expect(machine.acquired).toEqual(["live/takeover.lock"]);
    await one.host.close();
    expect(files.under("live")).toEqual([]);
  });

  it("has created all threads until it meets one of another host", async () => {
    files.put(sessionPath("", U), "x");
    await one.started(T, 2);
    expect(await one.host.madeAll()).toBe(false);
  });
});
