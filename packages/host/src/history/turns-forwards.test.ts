// Reading a journal forwards must give the same turns as reading it backwards, where rollbacks are seen first.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { countedFiles, FileCounts } from "../../../../test/support/file-call-counter.ts";
import { newThread } from "../../../../test/support/test-thread.ts";
import { definitionOf, type ThreadRecord } from "../core/records.ts";
import type { Log } from "../observe/log.ts";
import { nodePlatform } from "../platform/node.ts";
import { fileJournal } from "../store/files/file-journal.ts";
import type { ThreadJournal } from "../store/journal.ts";
import { MemoryJournal } from "../store/memory/in-memory-journal.ts";
import { effectiveBackwards } from "./effective-records.ts";
import { type ForkPoint, forkHistory } from "./fork-history.ts";
import { type StoredTurn, turnsBackwards, turnsForwards } from "./stored-turns.ts";

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** One step of a random thread: a turn with some items, with or without an end; injected items; a rollback. */
type Act =
  | { readonly kind: "turn"; readonly items: number; readonly ends: boolean; readonly injects: boolean }
  | { readonly kind: "inject" }
  | { readonly kind: "drop"; readonly count: number };

const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant("turn" as const),
        items: fc.nat(3),
        ends: fc.boolean(),
        injects: fc.boolean(),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("inject" as const) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("drop" as const), count: fc.nat(4) }) },
  ),
  { maxLength: 14 },
);

const answer = (id: string, text: string) =>
  ({ type: "agentMessage", id, text, phase: null, memoryCitation: null }) as unknown as Extract<
    ThreadRecord,
    { type: "itemStarted" }
  >["item"];

/** Writes the steps as commits. `cuts` says which records begin a commit, so that one turn may end where the next starts. */
async function written(happens: readonly Act[], cuts: readonly boolean[]): Promise<MemoryJournal> {
  const journal = new MemoryJournal();
  let waiting: ThreadRecord[] = [];
  let seq = 0;
  let nth = 0;
  const flush = async () => {
    if (waiting.length > 0) await journal.append({ seq: ++seq, epoch: 1, prev: seq - 1, records: waiting });
    waiting = [];
  };
  const write = async (record: ThreadRecord) => {
    if (cuts.length === 0 || cuts[nth++ % cuts.length]) await flush();
    waiting.push(record);
  };
  const inject = () => write({ type: "itemsInjected", at: 1, items: [{ nth }] });
  const isDamaged = happens.every(({ kind }) => kind !== "drop");
  /** Every turn but the last has an end. */
  let open: string | undefined;
  const end = async () => {
    if (open === undefined) return;
    // A turn's end may be missing in a damaged journal. A rollback after it cannot be resolved then.
    if (isDamaged && nth % 3 === 0) {
      open = undefined;
      return;
    }
    await write({
      ...({
        type: "turnEnded",
        turnId: open,
        startedAt: 1,
        at: 2,
        status: "completed",
        error: null,
      } as const),
      answer: null,
    });
    open = undefined;
  };
  for (const [at, act] of happens.entries()) {
    if (act.kind === "inject") await inject();
    else if (act.kind === "turn") {
      await end();
      const turnId = `turn ${at}`;
      await write({ type: "turnStarted", turnId, at: 1, input: [], outputSchema: null });
      for (let item = 0; item < act.items; item++) {
        const id = `item ${at}.${item}`;
        await write({ type: "itemStarted", turnId, at: 1, item: answer(id, "") });
        if (act.injects) await inject();
        await write({ type: "itemCompleted", turnId, at: 1, item: answer(id, `text ${id}`) });
      }
      open = turnId;
      if (act.ends) await end();
    } else {
      await end();
      await flush();
      const turns = await all(turnsBackwards(journal));
      const dropped = turns.slice(0, act.count).map(({ turn }) => turn.id);
      const keepThrough = turns[act.count]?.turn.id ?? null;
      await write({ type: "turnsDropped", at: 1, keepThrough, dropped, by: "revert" });
    }
  }
  await flush();
  return journal;
}

/** The reference: a fork made by reading the journal backwards. */
async function forkFromTheEnd(journal: MemoryJournal, { lastTurnId, beforeTurnId }: ForkPoint) {
  let found = lastTurnId == null && beforeTurnId == null;
  let turn: ThreadRecord[] | undefined;
  let ended: string | undefined;
  const pieces: (readonly ThreadRecord[])[] = [];
  for await (const { records } of effectiveBackwards(journal)) {
    for (const record of records) {
      if (record.type === "turnEnded") {
        ended = record.turnId;
        turn = [];
        found ||= ended === lastTurnId;
      }
      turn?.unshift(record);
      if (record.type === "turnStarted" && ended === record.turnId) {
        if (found) pieces.unshift(turn!);
        found ||= ended === beforeTurnId;
        ended = undefined;
        turn = undefined;
      } else if (found && ended === undefined && definitionOf(record).inFork === "alone")
        pieces.unshift([record]);
    }
  }
  return found ? pieces : "not found";
}

/** A journal with one commit for each list of records. */
async function journalOf(pieces: readonly (readonly ThreadRecord[])[]): Promise<MemoryJournal> {
  const journal = new MemoryJournal();
  for (const [prev, records] of pieces.entries())
    await journal.append({ seq: prev + 1, epoch: 1, prev, records });
  return journal;
}

const journals = fc.record({ happens: acts, cuts: fc.array(fc.boolean(), { maxLength: 5 }) });

describe("a journal that is read from the front", () => {
  it("has the turns that it has from its end, from wherever it is read", async () => {
    await fc.assert(
      fc.asyncProperty(journals, fc.nat(20), async ({ happens, cuts }, seq) => {
        const journal = await written(happens, cuts);
        const turns = (await all(turnsBackwards(journal))).toReversed();
        expect(await all(turnsForwards(journal, true))).toEqual(turns);
        const effective = (await all(effectiveBackwards(journal))).flatMap(({ records }) => records);
        expect(effective.map(({ type }) => type)).not.toContain("turnsDropped");
        const behind = ({ start }: StoredTurn) => start.seq >= seq;
        const from = await all(turnsForwards(journal, true, { seq }));
        expect(from.filter(behind)).toEqual(turns.filter(behind));
        if (happens.every(({ kind }) => kind !== "drop"))
          expect(await all(turnsForwards(journal, false))).toEqual(turns);
      }),
    );
  });

  it("gives a fork the history that it has from its end, up to any turn", async () => {
    await fc.assert(
      fc.asyncProperty(
        journals,
        fc.constantFrom("all", "last", "before"),
        fc.nat(14),
        async (given, what, at) => {
          const journal = await written(given.happens, given.cuts);
          const turnId = `turn ${at}`;
          const point: ForkPoint =
            what === "all" ? {} : what === "last" ? { lastTurnId: turnId } : { beforeTurnId: turnId };
          const wanted = await forkFromTheEnd(journal, point);
          const hasDrops = given.happens.some(({ kind }) => kind === "drop");
          const forked = all(forkHistory(journal, { ...newThread(), mayHaveDropped: hasDrops }, point));
          if (wanted === "not found") {
            await expect(forked).rejects.toMatchObject({ code: "turnNotFound" });
            return;
          }
          // The fork also has the turns that were rolled back, and the rollbacks.
          const fork = await journalOf(await forked);
          expect(await forkFromTheEnd(fork, {})).toEqual(wanted);
          const turns = await all(turnsBackwards(journal));
          const from = what === "all" ? 0 : turns.findIndex(({ turn }) => turn.id === turnId);
          const kept = turns.slice(what === "before" ? from + 1 : from);
          const ended = kept.filter(({ turn }) => turn.status !== "inProgress");
          expect((await all(turnsBackwards(fork))).map(({ turn }) => turn)).toEqual(
            ended.map(({ turn }) => turn),
          );
        },
      ),
    );
  });
});

describe("what is read of a journal in a file", () => {
  const platform = nodePlatform();
  const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
  let home: string;
  const counts = new FileCounts();
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "forwards-"));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  /** A thread with this many turns of one kilobyte each. */
  async function threadOf(turns: number): Promise<ThreadJournal> {
    const files = countedFiles(platform.files, counts);
    const journal = fileJournal(home, { ...platform, files }, SILENT);
    const { facts, settings, load } = newThread();
    const id = platform.ids.uuid();
    const thread = await journal.create(id);
    const created = { type: "created", at: 1, facts: { ...facts, id }, settings, load, docs: [] } as const;
    await thread.append({ seq: 1, epoch: 1, prev: 0, records: [created] });
    for (let seq = 2; seq < turns + 2; seq++) {
      const turnId = `turn ${seq}`;
      const item = answer(`item ${seq}`, "x".repeat(1000));
      const records: ThreadRecord[] = [
        { type: "turnStarted", turnId, at: 1, input: [], outputSchema: null },
        { type: "itemStarted", turnId, at: 1, item },
        { type: "itemCompleted", turnId, at: 1, item },
        { type: "turnEnded", turnId, startedAt: 1, at: 2, status: "completed", error: null, answer: null },
      ];
      await thread.append({ seq, epoch: 1, prev: seq - 1, records });
    }
    counts.reset();
    return thread;
  }

  it("is the page and not what comes behind it, for the oldest turns", async () => {
    const read: number[] = [];
    for (const turns of [100, 1000]) {
      const thread = await threadOf(turns);
      const page: string[] = [];
      for await (const { turn } of turnsForwards(thread, false)) if (page.push(turn.id) === 20) break;
      expect(page).toEqual(Array.from({ length: 20 }, (_, nth) => `turn ${nth + 2}`));
      read.push(counts.bytesRead);
      await thread.close();
    }
    expect(read[1]).toBe(read[0]);
  });

  it("is each byte once for a fork, and the file is opened once", async () => {
    const thread = await threadOf(200);
    const bytes = (await readFile(thread.place.path!)).length;
    // The same pass finds out that the last turn has an end: nothing is read again for it.
    expect(await all(forkHistory(thread, newThread(), { lastTurnId: "turn 201" }))).toHaveLength(200);
    expect([counts.of("openRead"), counts.bytesRead]).toEqual([1, bytes]);
    await thread.close();
  });

  it("is each byte once for a fork where turns were rolled back, whatever its last turn", async () => {
    const thread = await threadOf(200);
    const drop = { type: "turnsDropped", at: 1, keepThrough: "turn 200", dropped: ["turn 201"] } as const;
    await thread.append({ seq: 202, epoch: 1, prev: 201, records: [{ ...drop, by: "rollback" }] });
    const bytes = (await readFile(thread.place.path!)).length;
    const state = { ...newThread(), mayHaveDropped: true };
    for (const [lastTurnId, pieces] of [
      [null, 201],
      ["turn 100", 99],
    ] as const) {
      counts.reset();
      expect(await all(forkHistory(thread, state, { lastTurnId }))).toHaveLength(pieces);
      expect([counts.of("openRead"), counts.bytesRead]).toEqual([1, bytes]);
    }
    await expect(all(forkHistory(thread, state, { lastTurnId: "turn 201" }))).rejects.toMatchObject({
      code: "turnNotFound",
    });
    await thread.close();
  });
});
