import { appendFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newThread } from "../../../../../test/support/test-thread.ts";
import { fold } from "../../core/fold.ts";
import type { Commit, ThreadRecord } from "../../core/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { Log } from "../../observe/log.ts";
import { nodePlatform } from "../../platform/node.ts";
import type { AppendFile, Files, Timers } from "../../platform/platform.ts";
import { append } from "../append.ts";
import type { ThreadJournal } from "../journal.ts";
import type { ThreadRow } from "../thread-index.ts";
import { encodeCommit } from "./commit-format.ts";
import { type FileJournal, fileJournal } from "./file-journal.ts";

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
const platform = nodePlatform();
/** Nobody waits here. */
const timers: Pick<Timers, "after"> = {
  after(_, run) {
    queueMicrotask(run);
    return () => {};
  },
};

let home: string;
let store: FileJournal;
let rows: ThreadRow[];
let journal: ThreadJournal;
let state: ThreadState;
/**
 * Where the next appends to a journal fail: behind so many bytes, or so many before their end. Undefined: such an
 * append does not fail.
 */
let failures: (number | undefined)[];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "unknown-append-"));
  rows = [];
  failures = [];
  const record = (row: ThreadRow): void => void rows.push(row);
  const index = { record, forget: async () => {}, flush: async () => {} };
  store = fileJournal(home, { ...platform, files: tearing(platform.files) }, SILENT, () => index);
  const { facts, settings, load, docs } = newThread();
  const id = platform.ids.uuid();
  const created: ThreadRecord = { type: "created", at: 1, facts: { ...facts, id }, settings, load, docs };
  state = fold(undefined, created);
  journal = await store.create(id);
  await append(journal, { seq: 1, epoch: 1, prev: 0, records: [created] }, "written", state, timers);
  await append(journal, rename(2), "written", state, timers);
  rows = [];
});
afterEach(async () => {
  await journal.close();
  await store.close();
  await rm(home, { recursive: true, force: true });
});

function rename(seq: number): Commit {
  const record: ThreadRecord = { type: "renamed", at: seq, name: `name ${seq}` };
  state = fold(state, record);
  return { seq, epoch: 1, prev: seq - 1, records: [record] };
}

/** Files whose writes to journals fail half-way, and leave what they wrote: the process could not cut it off. */
function tearing(files: Files): Files {
  const torn = (file: AppendFile): AppendFile =>
    new Proxy(file, {
      get(target, name) {
        if (name === "append")
          return async (bytes: Uint8Array, options?: { readonly keepTime?: boolean }) => {
            const written = failures.shift();
            if (written === undefined) return target.append(bytes, options);
            if (written !== 0) await target.append(bytes.subarray(0, written));
            throw Object.assign(new Error("EIO: i/o error, write"), { code: "EIO" });
          };
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  return {
    ...files,
    openAppend: async (path, options) => {
      const file = await files.openAppend(path, options);
      return path.includes("rollout") ? torn(file) : file;
    },
  };
}

async function seqs(): Promise<number[]> {
  const found: number[] = [];
  for await (const { commit } of journal.forwards()) found.push(commit.seq);
  return found;
}

const WHOLE = 1e9;

describe("an append whose write fails", () => {
  it.each([
    ["before its first byte", [0]],
    ["in the middle of its line", [20]],
    ["behind its last byte but for the line's end", [-1]],
    ["when all of it is there", [WHOLE]],
    ["three times, each time further", [5, 30, 40]],
  ])("is there once: %s", async (_, given) => {
    failures = [...given];
    await append(journal, rename(3), "synced", state, timers);
    expect(await seqs()).toEqual([1, 2, 3]);
    expect(rows.map(({ seq, thread }) => [seq, thread.name])).toEqual([[3, "name 3"]]);
    await append(journal, rename(4), "written", state, timers);
    expect(await seqs()).toEqual([1, 2, 3, 4]);
    expect(await readFile(journal.place.path!, "utf8")).toMatch(/\n$/);
  });

  it("writes the rest of several commits of which some are there", async () => {
    const three = rename(3);
    failures = [encodeCommit(three).length + 10];
    await append(journal, [three, rename(4), rename(5)], "written", state, timers);
    expect(await seqs()).toEqual([1, 2, 3, 4, 5]);
  });

  it.each([
    ["in the log of new threads", [0]],
    ["in a new file", [undefined, 0]],
    ["in a new file, with a part of the second", [undefined, 10]],
    ["in a new file, with all others", [undefined, 1e9]],
  ])("writes the rest where only the first commit of a new thread is there: %s", async (_, given) => {
    const { facts, settings, load, docs } = newThread();
    const id = platform.ids.uuid();
    const created: ThreadRecord = { type: "created", at: 1, facts: { ...facts, id }, settings, load, docs };
    state = fold(undefined, created);
    const before = journal;
    journal = await store.create(id);
    failures = [...given];
    const commits: Commit[] = [{ seq: 1, epoch: 1, prev: 0, records: [created] }, rename(2), rename(3)];
    await append(journal, commits, "written", state, timers);
    expect(failures).toEqual([]);
    expect(await seqs()).toEqual([1, 2, 3]);
    await before.close();
  });

  it("is given up after three more, and nothing of it is there", async () => {
    failures = [5, 30, 40, 0];
    const given = append(journal, rename(3), "written", state, timers);
    await expect(given).rejects.toMatchObject({ code: "storageFailed" });
    expect(failures).toEqual([]);
    expect(await seqs()).toEqual([1, 2]);
    expect(rows).toEqual([]);
  });

  it("is no success where someone else has written meanwhile, whose bytes stay", async () => {
    failures = [0];
    const path = journal.place.path!;
    const theirs = encodeCommit({
      seq: 3,
      epoch: 1,
      prev: 2,
      records: [{ type: "renamed", at: 3, name: "x" }],
    });
    let pauses = 0;
    const waiting: Pick<Timers, "after"> = {
      after(_, run) {
        pauses++;
        appendFile(path, theirs).then(run, run);
        return () => {};
      },
    };
    const given = append(journal, rename(3), "written", state, waiting);
    await expect(given).rejects.toMatchObject({ code: "storageFailed" });
    expect(pauses).toBe(1);
    expect((await readFile(path, "utf8")).split("\n")[2]).toBe(theirs.toString().trimEnd());
  });
});
