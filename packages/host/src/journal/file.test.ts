import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Commit } from "../core/records.ts";
import { newThread } from "../core/test-thread.ts";
import type { Log } from "../observe/log.ts";
import { countedFiles, FileCounts } from "../platform/counted-files.ts";
import { nodePlatform } from "../platform/node.ts";
import { fileJournal } from "./file.ts";
import type { Journal, ThreadJournal } from "./journal.ts";
import { recall } from "./recall.ts";

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {}, flushed: async () => {} };
const platform = nodePlatform();

let home: string;
let counts: FileCounts;
let journal: Journal;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "file-journal-"));
  counts = new FileCounts();
  const files = countedFiles(platform.files, counts);
  journal = fileJournal(home, { ...platform, files }, SILENT, async () => {});
});
afterEach(async () => {
  await journal.close();
  await rm(home, { recursive: true, force: true });
});

/** A thread that was started; `used` ones have a journal of their own. */
async function thread(words: string, used = false): Promise<ThreadJournal> {
  const { facts, settings, load } = newThread();
  const id = platform.ids.uuid();
  const made = await journal.create(id);
  const docs = [{ path: "/AGENTS.md", text: words }];
  const created = { type: "created", at: 1, facts: { ...facts, id }, settings, load, docs } as const;
  await made.append({ seq: 1, epoch: 1, prev: 0, records: [created] });
  if (used) {
    await made.append({ seq: 2, epoch: 1, prev: 1, records: [{ type: "renamed", at: 2, name: words }] });
  }
  return made;
}

async function starts(): Promise<string> {
  const name = (await readdir(join(home, "live"))).find((one) => one.endsWith(".starts"));
  return readFile(join(home, "live", name!), "utf8");
}

describe("a thread that is deleted", () => {
  async function workToDelete(unused: number, used: boolean): Promise<number> {
    for (let at = 0; at < unused; at++) await thread(`bystander ${at}`);
    const deleted = await thread("secret words", used);
    counts.reset();
    await deleted.destroy();
    expect(await starts()).not.toContain("secret words");
    return counts.all;
  }

  it.each([
    ["used", true],
    ["never used", false],
  ])("costs as much among many unused threads as among few (it was %s)", async (_, used) => {
    const few = await workToDelete(3, used);
    expect(await workToDelete(100, used)).toBe(few);
    // All others are still to be made, each from a line of its own.
    const lines = (await starts()).split("\n").filter((line) => line.includes("bystander"));
    expect(lines).toHaveLength(103);
  });

  it("leaves the others as they are for whoever comes to use them", async () => {
    const before = await thread("before");
    const deleted = await thread("deleted");
    const after = await thread("after");
    await deleted.destroy();
    for (const [one, words] of [
      [before, "before"],
      [after, "after"],
    ] as const) {
      await one.rest();
      const found = [];
      for await (const { commit } of one.forwards()) found.push(commit);
      expect(found).toMatchObject([{ seq: 1, records: [{ type: "created", docs: [{ text: words }] }] }]);
    }
    // With the last of them made, nothing is left to be kept.
    expect(await starts()).toBe("");
  });
});

describe("the host that made every stored thread", () => {
  it("is known as that, once, by the journals that it has made", async () => {
    await thread("unused");
    await thread("used", true);
    const archived = await thread("archived", true);
    await archived.archive(true);
    expect(await journal.madeAll()).toBe(true);
    expect(await journal.madeAll()).toBe(false);
  });

  it("is not one that found a thread of another", async () => {
    const earlier = await thread("earlier", true);
    await earlier.close();
    await journal.close();
    journal = fileJournal(home, platform, SILENT, async () => {});
    await thread("own", true);
    expect(await journal.madeAll()).toBe(false);
  });

  it("is any host in an empty home", async () => {
    expect(await journal.madeAll()).toBe(true);
  });
});

describe("the threads of a host that is gone", () => {
  it("are taken over a few under one hold of the lock, after one look at whether it lives", async () => {
    const ids = [];
    for (let at = 0; at < 40; at++) {
      const left = await thread(`left ${at}`, true);
      ids.push(left.place.path!.slice(-".jsonl".length - 36, -".jsonl".length));
      await left.rest();
    }
    const asked = { holds: 0, looks: 0 };
    const liveness: typeof platform.liveness = {
      announce: async () => async () => {},
      alive: async () => {
        asked.looks++;
        return false;
      },
      exclusively: (_, work) => {
        asked.holds++;
        return work();
      },
    };
    const files = countedFiles(platform.files, counts);
    const next = fileJournal(home, { ...platform, files, liveness }, SILENT, async () => {});
    counts.reset();
    const taken = await Promise.all(ids.map((id) => next.open(id)));
    expect(taken.every((one) => one?.undone)).toBe(true);
    // One more hold is for the mark of this run of the machine.
    expect(asked.holds).toBeLessThanOrEqual(3);
    expect(asked.looks).toBe(1);
    expect(counts.of("rename")).toBe(40);
    for (const one of taken) await one?.rest();
  });
});

describe("the head of a stored thread", () => {
  it("is read by one look at the end of its journal", async () => {
    const stored = await thread("words", true);
    const id = stored.place.path!.slice(-".jsonl".length - 36, -".jsonl".length);
    await stored.close();
    counts.reset();
    const reader = (await journal.read(id))!;
    expect((await recall(reader))?.state.name).toBe("words");
    await reader.close();
    expect([counts.of("openRead"), counts.of("read")]).toEqual([1, 1]);
  });
});

describe("commits that are written in one go", () => {
  const renamed = (seq: number): Commit => {
    return { seq, epoch: 1, prev: seq - 1, records: [{ type: "renamed", at: seq, name: `name ${seq}` }] };
  };
  const seqsOf = async (one: ThreadJournal) => {
    const found: number[] = [];
    for await (const { commit } of one.forwards()) found.push(commit.seq);
    return found;
  };

  it("take one append, and are read one by one", async () => {
    const stored = await thread("words", true);
    counts.reset();
    expect(await stored.append(...[3, 4, 5].map(renamed))).toMatchObject({ kind: "committed" });
    expect(counts.of("append")).toBe(1);
    expect(await seqsOf(stored)).toEqual([1, 2, 3, 4, 5]);
  });

  it("may be a thread's first", async () => {
    const { facts, settings, load } = newThread();
    const id = platform.ids.uuid();
    const made = await journal.create(id);
    const created = { type: "created", at: 1, facts: { ...facts, id }, settings, load, docs: [] } as const;
    await made.append({ seq: 1, epoch: 1, prev: 0, records: [created] }, renamed(2), renamed(3));
    expect(await seqsOf(made)).toEqual([1, 2, 3]);
  });
});

describe("a journal that is read from a place", () => {
  it("gives the commits that begin there or behind, also if none begins there", async () => {
    const stored = await thread("a", true);
    await stored.append({ seq: 3, epoch: 1, prev: 2, records: [{ type: "renamed", at: 3, name: "Zoë\n" }] });
    const starts = async (from?: number) => {
      const found: number[] = [];
      for await (const { start } of stored.forwards(from)) found.push(start);
      return found;
    };
    const all = await starts();
    expect(all).toHaveLength(3);
    for (let from = 0; from <= all[2]! + 300; from++)
      expect(await starts(from)).toEqual(all.filter((start) => start >= from));
  });

  it("gives the commits that name a text", async () => {
    const stored = await thread("a", true);
    const names = async (text: string, from?: number) => {
      const found: number[] = [];
      for await (const { commit } of stored.naming(text, from)) found.push(commit.seq);
      return found;
    };
    expect([await names("renamed"), await names("epoch"), await names("none")]).toEqual([[2], [1, 2], []]);
    expect(await names("epoch", 1)).toEqual([2]);
  });
});
