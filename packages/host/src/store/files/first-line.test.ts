// A thread is acknowledged by a line among its host's starts; its journal is made of that line later. Other hosts may
// look at the journal at any moment in between, and whoever made it may be killed at any moment.
import { appendFileSync, mkdirSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LONG } from "../../../../../test/support/long-form.ts";
import { newThread } from "../../../../../test/support/test-thread.ts";
import type { Log } from "../../observe/log.ts";
import { nodePlatform } from "../../platform/node.ts";
import type { Files, Liveness, ReadFile } from "../../platform/platform.ts";
import { rebuildRows } from "../index-rebuild.ts";
import type { Journal, ThreadJournal } from "../journal.ts";
import { type Head, readHead } from "../thread-head.ts";
import { encodeCommit } from "./commit-format.ts";
import { fileJournal } from "./file-journal.ts";
import { sessionPath } from "./journal-paths.ts";

const platform = nodePlatform();
const ID = "01a1e11e-8538-703d-834a-e6eb57dc6a9a";
const MAKER = "01a1e11f-2a04-703d-bc4c-5e1865efdf63";

const { facts, settings, load, docs } = newThread();
const created = { type: "created", at: 1, facts: { ...facts, id: ID }, settings, load, docs } as const;
const named = { type: "renamed", at: 1, name: "Named" } as const;
const LINE = encodeCommit({ seq: 1, epoch: 1, prev: 0, records: [created, named] });
const HALF = LINE.length / 2;

let home: string;
let path: string;
let warnings: string[];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "first-line-"));
  path = sessionPath(home, ID);
  warnings = [];
  await mkdir(join(home, "live"));
  await writeFile(join(home, "live", `${MAKER}.starts`), LINE);
  // What makes a journal takes the thread first.
  await platform.files.claim(join(home, "live", ID), MAKER);
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** A host that the home's maker of threads is alive for, or not. */
function host(makerLives: boolean, files: Files = platform.files): Journal {
  const log: Log = {
    debug() {},
    info() {},
    warn: (message) => void warnings.push(message),
    error() {},
  };
  const liveness: Liveness = {
    announce: async () => async () => {},
    alive: async (lock) => makerLives && lock.endsWith(`${MAKER}.lock`),
    exclusively: (_, work) => work(),
  };
  return fileJournal(home, { ...platform, files, liveness }, log);
}

async function taken(journal: Journal): Promise<ThreadJournal> {
  const opened = await journal.open(ID);
  if (opened?.kind !== "mine") throw new Error("it is not to be had");
  return opened.journal;
}

async function headOf(journal: Journal): Promise<Head | undefined> {
  const reader = await journal.read(ID);
  try {
    return reader && (await readHead(reader));
  } finally {
    await reader?.close();
  }
}

async function listed(journal: Journal): Promise<string[]> {
  const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };
  const ids: string[] = [];
  for await (const { row } of rebuildRows(journal, { ...silent, warn: (text) => void warnings.push(text) })) {
    ids.push(row.id);
  }
  return ids;
}

/** Files that change under whoever reads them: `before` is told how many looks at them there were. */
function watchedFiles(before: (look: number) => void): Files {
  let looks = 0;
  const look = <T>(run: () => Promise<T>): Promise<T> => {
    before(looks++);
    return run();
  };
  const { files } = platform;
  const watched = (file: ReadFile): ReadFile => ({
    size: () => look(() => file.size()),
    read: (position, length) => look(() => file.read(position, length)),
    close: () => file.close(),
  });
  return {
    ...files,
    list: (folder) => look(() => files.list(folder)),
    exists: (at) => look(() => files.exists(at)),
    openRead: (at) =>
      look(async () => {
        const file = await files.openRead(at);
        return file && watched(file);
      }),
  };
}

/** More looks than any of these readers takes. */
const LOOKS = 15;

/** What the maker does to the journal, step by step. */
const STEPS: readonly (() => void)[] = [
  () => {
    mkdirSync(dirname(path), { recursive: true });
    appendFileSync(path, "");
  },
  () => appendFileSync(path, LINE.subarray(0, HALF)),
  () => appendFileSync(path, LINE.subarray(HALF)),
];

/**
 * Runs `check` with every way in which three steps can fall between a reader's looks, in their order; in the short
 * form with every fifth.
 */
async function eachWay(check: (files: Files, isThereFirst: boolean) => Promise<void>): Promise<void> {
  let ways = 0;
  for (let made = 0; made <= LOOKS; made++) {
    for (let half = made; half <= LOOKS; half++) {
      for (let whole = half; whole <= LOOKS; whole++) {
        if (ways++ % (LONG ? 1 : 5) > 0) continue;
        await rm(join(home, "sessions"), { recursive: true, force: true });
        const at = [made, half, whole];
        const files = watchedFiles((look) => {
          expect(look).toBeLessThan(LOOKS);
          for (const [nth, step] of STEPS.entries()) if (at[nth] === look) step();
        });
        await check(files, whole === 0);
      }
    }
  }
}

describe("a thread whose journal a living host is making", () => {
  it("[FAULT-24] is read as it was started or not found, whenever its first line comes", async () => {
    const found = { whole: 0, none: 0 };
    await eachWay(async (files, isThereFirst) => {
      const head = await headOf(host(true, files));
      if (head === undefined) found.none++;
      else found.whole++;
      if (head !== undefined || isThereFirst) expect(head?.state.name).toBe("Named");
    });
    // Both are met: the steps do fall between the looks.
    expect(Math.min(found.whole, found.none)).toBeGreaterThan(0);
    expect(warnings).toEqual([]);
  });

  it("[FAULT-24] is in a rebuilt index or not there yet, and never called unreadable", async () => {
    await eachWay(async (files) => {
      await listed(host(true, files));
    });
    expect(warnings).toEqual([]);
  });
});

describe("a thread whose host was killed while it made the journal", () => {
  const left: [string, Uint8Array | undefined][] = [
    ["nothing", undefined],
    ["an empty file", LINE.subarray(0, 0)],
    ["one byte", LINE.subarray(0, 1)],
    ["half of its first line", LINE.subarray(0, HALF)],
    ["all but the end of its first line", LINE.subarray(0, -1)],
    ["its first line", LINE],
  ];
  for (const [what, bytes] of left) {
    describe(`and left ${what}`, () => {
      beforeEach(async () => {
        if (bytes === undefined) return;
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, bytes);
      });

      it("[FAULT-24] is read as it was started", async () => {
        expect((await headOf(host(false)))?.state.name).toBe("Named");
      });

      it("[FAULT-24] is opened as it was started", async () => {
        const opened = await taken(host(false));
        expect((await readHead(opened))?.state.name).toBe("Named");
        expect(opened.needsRecovery).toBe(true);
        await opened.rest();
      });

      it("[FAULT-14] is deleted for good", async () => {
        await (await taken(host(false))).destroy();
        expect(await readdir(dirname(path))).toEqual([]);
        expect(await headOf(host(false))).toBeUndefined();
      });
    });
  }
});

describe("a thread that another host has taken from one that was killed before it marked the journal as made", () => {
  it("[FAULT-24] keeps what is being written to it when the starts of the dead host are taken up", async () => {
    const second = encodeCommit({ seq: 2, epoch: 1, prev: 1, records: [{ ...named, name: "Renamed" }] });
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, LINE);
    const taker = host(false);
    const journal = await taken(taker);
    appendFileSync(path, second.subarray(0, 20));
    // Whoever looks for a thread that is not there takes up what is left.
    expect(await host(false).read("01a1e11e-8538-703d-834a-e6eb57dc6a9b")).toBeUndefined();
    expect(await readdir(join(home, "live"))).not.toContain(`${MAKER}.starts`);
    expect(await readFile(path, "utf8")).toBe(`${LINE}${second.subarray(0, 20)}`);
    await journal.rest();
  });
});
