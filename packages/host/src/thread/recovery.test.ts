import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { countedFiles, FileCounts } from "../../../../test/support/file-call-counter.ts";
import { newThread } from "../../../../test/support/test-thread.ts";
import { fold } from "../core/fold.ts";
import { checkpointOf } from "../core/life/make-checkpoint.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { Fault, fault } from "../errors.ts";
import type { Log } from "../observe/log.ts";
import { nodePlatform } from "../platform/node.ts";
import { type FileJournal, fileJournal } from "../store/files/file-journal.ts";
import type { KnownThread } from "../store/thread-index.ts";
import { LoadedAndBusyThreads } from "./loaded-and-busy-threads.ts";
import { Recovery, type RecoveryPorts } from "./recovery.ts";
import { StoredThreads, type StoredThreadsPorts } from "./stored-threads.ts";

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

describe("what a power cut left", () => {
  /** A start after a power cut, with one thread that cannot be read because of `cause`. */
  async function afterPowerCut(cause: Error | undefined): Promise<{ done: boolean; reported: number }> {
    let done = false;
    let reported = 0;
    const held = { journal: { close: async () => {} }, head: { state: newThread() } };
    const ports = {
      journal: {
        threads: async function* () {
          yield { id: "t" };
        },
        read: async () => undefined,
      },
      claims: {
        abandoned: async () => [],
        needsFullRecovery: async () => true,
        markFullyRecovered: async () => {
          done = true;
        },
        disown: async () => {},
      },
      slots: new LoadedAndBusyThreads(),
      supervisor: { report: () => reported++ },
      listed: async () => new Map(),
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
  let journal: FileJournal;
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
    journal = { ...fileJournal(home, { ...platform, files }, SILENT) };
    journal.needsFullRecovery = async () => true;
    journal.markFullyRecovered = async () => {};
  }

  /** A stored thread that needs no recovery: its last load has ended (unless `more` changes that), and it is indexed. */
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
      const checkpoint: ThreadRecord = checkpointOf(state!);
      const commit: Commit = { seq: ++seq, epoch: 1, prev: seq - 1, records: [...records, checkpoint] };
      await file.append(commit);
    }
    await file.close();
    known.set(id, { seq, archived: false });
    return id;
  }

  /** The threads that a start after a power cut opens. For `untold` ones a notice to tool servers is due. */
  async function taken(mustNotify = false): Promise<readonly string[]> {
    await journal.close();
    open();
    counts.reset();
    const storedPorts = {
      journal,
      claims: journal,
      mustNotify: () => mustNotify,
    } as unknown as StoredThreadsPorts;
    const stored = new StoredThreads(storedPorts, platform);
    const ids: string[] = [];
    stored.open = async (id) => {
      ids.push(id);
      throw fault("heldElsewhere", id, "another");
    };
    const ports = {
      ...{ journal, claims: journal, stored, slots: new LoadedAndBusyThreads(), listed: async () => known },
      ...{ stopped: () => false, recovering: async () => {} },
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
    // The work grows linearly with the number of threads: 10, then 40.
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
