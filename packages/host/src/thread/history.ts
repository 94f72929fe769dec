import type { Turn } from "@bobbin/protocol";
import { conforms } from "@bobbin/protocol/conforms";
import { inline, nullable, string } from "@bobbin/protocol/schema";
import { ThreadItem } from "@bobbin/protocol/types";
import { type Check, fields } from "../core/record-check.ts";
import type { ThreadRecord } from "../core/records.ts";
import { seconds } from "../core/seconds.ts";
import { time } from "../core/shapes.ts";
import { isCompaction } from "../core/turn/own-items.ts";
import { outcome } from "../core/turn/shapes.ts";
import { turnStarted } from "../core/turn/views.ts";
import type { JournalReader, Placed, WantedRecords } from "../journal/journal.ts";

/** A turn as the journal has it, with all its items. */
export interface StoredTurn {
  readonly turn: Turn;
  /** Where its first commit is: older turns are before it. */
  readonly start: number;
  /** Behind its last commit: reading back from here finds it first. Undefined while it runs. */
  readonly end: number | undefined;
}

/**
 * The turns that count, newest first, read from the tail: a page of a huge journal costs what the page is long.
 * Turns that were rolled back are passed over.
 */
export async function* turnsBackwards(reader: JournalReader, before?: number): AsyncIterable<StoredTurn> {
  const walk = new WalkBackwards();
  for await (const placed of reader.backwards(before, USED)) {
    // What stands behind the place that was asked for was not read.
    for (const turn of walk.take(placed))
      yield before === undefined ? turn : await withLateEnds(reader, turn);
    if (walk.over) return;
  }
}

/** The turn with the ends of its commands that went on after it. */
async function withLateEnds(reader: JournalReader, stored: StoredTurn): Promise<StoredTurn> {
  const { turn, end } = stored;
  if (end === undefined || !turn.items.some(isRunning)) return stored;
  const ends = new Map<string, ThreadItem>();
  for await (const { commit } of reader.naming("terminalEnded" satisfies ThreadRecord["type"], end)) {
    for (const record of commit.records)
      if (record.type === "terminalEnded" && record.turnId === turn.id) ends.set(record.item.id, record.item);
  }
  return { ...stored, turn: { ...turn, items: turn.items.map((item) => ends.get(item.id) ?? item) } };
}

function isRunning(item: ThreadItem): boolean {
  return item.type === "commandExecution" && item.status === "inProgress";
}

/** All turns that count, oldest first. */
export async function allTurns(reader: JournalReader): Promise<Turn[]> {
  const turns: Turn[] = [];
  const walk = new WalkBackwards();
  for await (const placed of reader.backwards(undefined, USED)) {
    for (const { turn } of walk.take(placed)) turns.push(turn);
    if (walk.over) break;
  }
  return turns.reverse();
}

/** What turns are made of. An item that started shows where it stands: its content comes from its end, where it has one. */
const USED: WantedRecords = new Map<ThreadRecord["type"], Check>([
  ["turnStarted", fields(() => ({ turnId: string(), at: time() }))],
  ["turnEnded", fields(() => ({ turnId: string(), startedAt: time(), at: time(), ...outcome() }))],
  ["turnsDropped", fields(() => ({ keepThrough: nullable(string()) }))],
  ["itemStarted", fields(() => ({ turnId: string(), item: inline(() => ({ id: string() })) }))],
  ["itemCompleted", fields(() => ({ turnId: string(), item: ThreadItem }))],
  ["terminalEnded", fields(() => ({ turnId: string(), item: ThreadItem }))],
]);

/**
 * The turns that count, oldest first, from a place on: a page costs what it is long, whatever comes behind it. Only where
 * turns may have been dropped, what comes behind is looked through for that.
 */
export async function* turnsForwards(
  reader: JournalReader,
  mayHaveDropped: boolean,
  from?: number,
): AsyncIterable<StoredTurn> {
  const dropped = mayHaveDropped ? await droppedFrom(reader, from) : NONE_DROPPED;
  /** The commits of the turn that is read, without what is not between its start and its end. */
  let commits: Placed[] = [];
  const finished = (): Promise<readonly StoredTurn[]> => {
    const walk = new WalkBackwards();
    const turns = commits.reverse().flatMap((placed) => walk.take(placed));
    commits = [];
    const counted = turns.filter(({ turn }) => !dropped.has(turn.id));
    return Promise.all(counted.map((turn) => withLateEnds(reader, turn)));
  };
  for await (const placed of reader.forwards(from, USED)) {
    const { records } = placed.commit;
    const part = (start: number, end?: number): Placed => {
      return { ...placed, commit: { ...placed.commit, records: records.slice(start, end) } };
    };
    /** Where the turn begins in this commit; undefined if none is open. */
    let start = commits.length > 0 ? 0 : undefined;
    for (const [nth, { type }] of records.entries()) {
      if (type === "turnStarted") {
        if (start !== undefined) commits.push(part(start, nth));
        // Of a turn without an end there is no more than this.
        yield* await finished();
        start = nth;
      } else if (type === "turnEnded" && start !== undefined) {
        commits.push(part(start, nth + 1));
        yield* await finished();
        start = undefined;
      }
    }
    if (start !== undefined) commits.push(part(start));
  }
  yield* await finished();
}

const NONE_DROPPED: ReadonlySet<string> = new Set();

async function droppedFrom(reader: JournalReader, from: number | undefined): Promise<ReadonlySet<string>> {
  const dropped = new Set<string>();
  for await (const { commit } of reader.naming("turnsDropped" satisfies ThreadRecord["type"], from)) {
    for (const record of commit.records) {
      if (record.type === "turnsDropped") for (const id of record.dropped) dropped.add(id);
    }
  }
  return dropped;
}

/** Puts turns together from commits, newest first. */
class WalkBackwards {
  #building: Building | undefined;
  /** Ends of commands that went on after their calls, by turn and item. */
  readonly #late = new Map<string, ThreadItem>();
  /** Set while everything newer than this turn is passed over. */
  #keepThrough: string | undefined;
  /** Nothing older counts. */
  over = false;

  /** The turns of which this is the first commit. */
  take({ commit: { records }, start, end }: Placed): readonly StoredTurn[] {
    let found: readonly StoredTurn[] = NONE;
    for (let at = records.length - 1; at >= 0; at--) {
      const record = records[at]!;
      // A command may end after its turn, and after turns that do not count.
      if (record.type === "terminalEnded") {
        this.#late.set(lateKey(record.turnId, record.item.id), record.item);
        continue;
      }
      if (this.#keepThrough !== undefined) {
        if (record.type !== "turnEnded" || record.turnId !== this.#keepThrough) continue;
        this.#keepThrough = undefined;
      }
      if (record.type === "turnsDropped") {
        this.over = record.keepThrough === null;
        if (record.keepThrough === null) return found;
        this.#keepThrough = record.keepThrough;
        continue;
      }
      this.#building = build(this.#building, record, end, this.#late);
      if (record.type !== "turnStarted" || this.#building === undefined) continue;
      found = [...found, { turn: finish(this.#building, record.at), start, end: this.#building.end }];
      this.#building = undefined;
    }
    return found;
  }
}

const NONE: readonly never[] = [];

interface Building {
  readonly id: string;
  ended: Extract<ThreadRecord, { type: "turnEnded" }> | undefined;
  end: number | undefined;
  /** Newest first. */
  readonly items: ThreadItem[];
  readonly completed: Map<string, ThreadItem>;
}

function emptyTurn(id: string): Building {
  return { id, ended: undefined, end: undefined, items: [], completed: new Map() };
}

function lateKey(turnId: string, itemId: string): string {
  return `${turnId} ${itemId}`;
}

function build(
  before: Building | undefined,
  record: ThreadRecord,
  end: number,
  late: ReadonlyMap<string, ThreadItem>,
): Building | undefined {
  switch (record.type) {
    case "turnEnded":
      return { ...emptyTurn(record.turnId), ended: record, end };
    case "turnStarted":
    case "itemStarted":
    case "itemCompleted": {
      const building = before ?? emptyTurn(record.turnId);
      if (record.type === "turnStarted") return building;
      // An item's place is where it started; its content is what it completed with.
      const { item } = record;
      const completed = building.completed.get(item.id) ?? late.get(lateKey(building.id, item.id));
      if (record.type === "itemCompleted") building.completed.set(item.id, item);
      else if (completed !== undefined) building.items.push(completed);
      // A compaction that did not come about is not told as one.
      else if ((building.ended === undefined || !isCompaction(item)) && conforms(ThreadItem, item))
        building.items.push(item);
      return building;
    }
    default:
      return before;
  }
}

function finish({ id, ended, items }: Building, startedAt: number): Turn {
  const turn: Turn = { ...turnStarted(id, startedAt), items: items.toReversed(), itemsView: "full" };
  if (ended === undefined) return turn;
  return {
    ...turn,
    status: ended.status,
    error: ended.error,
    completedAt: seconds(ended.at),
    durationMs: Math.max(0, ended.at - ended.startedAt),
  };
}
