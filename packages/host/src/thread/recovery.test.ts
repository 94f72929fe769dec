import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fold } from "../core/fold.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { newThread } from "../core/test-thread.ts";
import { Fault, fault } from "../errors.ts";
import { fileJournal } from "../journal/file.ts";
import type { KnownThread } from "../journal/index/thread-index.ts";
import type { Journal } from "../journal/journal.ts";
import type { Log } from "../observe/log.ts";
import { countedFiles, FileCounts } from "../platform/counted-files.ts";
import { nodePlatform } from "../platform/node.ts";
import { Recovery, type RecoveryPorts } from "./recovery.ts";
import { Slots } from "./slots.ts";
import { Stored, type StoredPorts } from "./stored.ts";

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {}, flushed: async () => {} };

describe("what a power cut left", () => {
  /** A start after a power cut, with one thread that can not be looked at because of `cause`. */
  async function afterPowerCut(cause: Error | undefined): Promise<{ done: boolean; reported: number }> {
    let done = false;
    let reported = 0;
    const held = { journal: { close: async () => {} }, head: { state: newThread() } };
    const ports = {
      journal: {
        abandoned: async () => [],
        lostPower: async () => true,
        threads: async function* () {
          yield { id: "t" };
        },
        read: async () => undefined,
        madeGood: async () => {
          done = true;
        },
        disown: async () => {},
      },
      slots: new Slots(),
      supervisor: { report: () => reported++ },
      listed: async () => new Map(),
      starting: () => false,
      stopped: () => false,
      recovering: async () => {},
      stored: {
        open: async () => {
          if (cause !== undefined) throw cause;
          return held;
        },
        end: async () => held,
      },
    };
    await new Recovery(ports as unknown as RecoveryPorts).run();
    return { done, reported };
  }

  it("is made good when every thread was looked at", async () => {
    expect(await afterPowerCut(undefined)).toEqual({ done: true, reported: 0 });
    expect(await afterPowerCut(fault("noRollout", "t"))).toEqual({ done: true, reported: 0 });
    expect(await afterPowerCut(fault("heldElsewhere", "t", "h"))).toEqual({ done: true, reported: 0 });
  });

  it("is left to the next start where a thread could not be looked at", async () => {
    expect(await afterPowerCut(new Error("EIO"))).toEqual({ done: false, reported: 1 });
    expect(await afterPowerCut(fault("storageFailed", "EIO"))).toEqual({ done: false, reported: 1 });
  });
});

describe("the pass over all threads", () => {
  const platform = nodePlatform();
  let home: string;
  let counts: FileCounts;
  let journal: Journal;
  let known: Map<string, KnownThread>;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "recovery-"));
    counts = new FileCounts();
    known = new Map();
    open();
  });
  afterEach(async () => {
    await journal.close();
    await rm(home, { recursive: true, force: true });
  });

  function open(): void {
    const files = countedFiles(platform.files, counts);
    journal = { ...fileJournal(home, { ...platform, files }, SILENT, async () => {}) };
    journal.lostPower = async () => true;
    journal.madeGood = async () => {};
  }

  /** A stored thread whose last load has an end, if `more` does not change that; the index knows all of it. */
  async function store(more: readonly ThreadRecord[] = []): Promise<string> {
    const id = platform.ids.uuid();
    const { facts, settings, load } = newThread();
    const created: ThreadRecord = {
      type: "created",
      at: 1,
      facts: { ...facts, id },
      settings,
      load,
      docs: [],
    };
    const closed: ThreadRecord = { type: "closed", at: 3, reason: "requested" };
    let state: ThreadState | undefined;
    let seq = 0;
    const file = await journal.create(id);
    for (const records of [
      [created],
      [{ type: "renamed", at: 2, name: "n" }, closed],
      more,
    ] as ThreadRecord[][]) {
      if (records.length === 0) continue;
      for (const record of records) state = fold(state, record);
      const checkpoint: ThreadRecord = { type: "checkpoint", state: state! };
      const commit: Commit = { seq: ++seq, epoch: 1, prev: seq - 1, records: [...records, checkpoint] };
      await file.append(commit);
    }
    await file.close();
    known.set(id, { seq, archived: false });
    return id;
  }

  /** Which threads a start after a power cut takes; `untold` ones have tool servers that want to know of their end. */
  async function taken(mustTellClosed = false): Promise<readonly string[]> {
    await journal.close();
    open();
    counts.reset();
    const storedPorts = { journal, mustTellClosed: () => mustTellClosed } as unknown as StoredPorts;
    const stored = new Stored(storedPorts, platform.clock);
    const ids: string[] = [];
    stored.open = async (id) => {
      ids.push(id);
      throw fault("heldElsewhere", id, "another");
    };
    const ports = {
      ...{ journal, stored, slots: new Slots(), listed: async () => known },
      ...{ starting: () => false, stopped: () => false, recovering: async () => {} },
      supervisor: {
        report: (_: string, cause: unknown) => {
          if (!(cause instanceof Fault)) throw cause;
        },
      },
    };
    await new Recovery(ports as unknown as RecoveryPorts).run();
    return ids.toSorted();
  }

  it("looks at the end of each journal once, and takes none in which all is in order", async () => {
    const work: number[] = [];
    for (const more of [10, 30]) {
      for (let at = 0; at < more; at++) await store();
      expect(await taken()).toEqual([]);
      expect(counts.of("openRead")).toBe(known.size);
      expect(counts.of("claim", "openAppend", "append", "rename", "remove", "replaceText")).toBe(0);
      work.push(counts.all);
    }
    // Each thread more is as much work as each before: 10 of them, then 40.
    const each = (work[1]! - work[0]!) / 30;
    expect(work[0]! - 10 * each).toBeLessThan(10);
    expect(each).toBeLessThan(8);
  });

  it.each<[string, () => Promise<string>]>([
    ["whose last load has no end", () => store([{ type: "statusChanged", status: { type: "idle" } }])],
    ["of which the index knows too little", () => change({ seq: 1, archived: false })],
    ["of which the index knows too much", () => change({ seq: 9, archived: false })],
    ["that the index has in the archive", () => change({ seq: 2, archived: true })],
    ["that the index does not know", () => change(undefined)],
    [
      "that only the index knows",
      async () => {
        known.set("gone", { seq: 2, archived: false });
        return "gone";
      },
    ],
  ])("takes a thread %s", async (_, make) => {
    await store();
    const id = await make();
    await store();
    expect(await taken()).toEqual([id]);
  });

  async function change(row: KnownThread | undefined): Promise<string> {
    const id = await store();
    if (row === undefined) known.delete(id);
    else known.set(id, row);
    return id;
  }

  it("takes a thread whose end tool servers were not told, if there are any", async () => {
    const id = await store();
    expect(await taken(false)).toEqual([]);
    expect(await taken(true)).toEqual([id]);
  });
});
