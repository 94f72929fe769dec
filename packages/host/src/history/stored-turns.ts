import type { Turn } from "@bobbin/protocol";
import { conforms } from "@bobbin/protocol/conforms";
import { inline, nullable, omittable, string } from "@bobbin/protocol/schema";
import { ThreadItem } from "@bobbin/protocol/types";
import { time } from "../core/number-schemas.ts";
import { type Check, fields } from "../core/record-check.ts";
import type { ThreadRecord } from "../core/records.ts";
import { isCompaction } from "../core/turn/item-kinds.ts";
import { outcome } from "../core/turn/record-field-schemas.ts";
import { turnStarted } from "../core/turn/turn-view.ts";
import { seconds } from "../core/whole-seconds.ts";
import type { JournalReader, Placed, Position, WantedRecords } from "../store/journal.ts";
import { turnsWithBlobs } from "./restore-item-blobs.ts";

/** A turn read from the journal, with all its items. */
export interface StoredTurn {
  readonly turn: Turn;
  /** The position of the turn's first commit. Older turns are before it. */
  readonly start: Position;
  /**
   * The position of the turn's last commit, from which reading backwards finds this turn first. Undefined while the
   * turn runs.
   */
  readonly end: Position | undefined;
}

/**
 * The turns, newest first, without rolled-back ones. Reads the journal from its end, or from `through`, so that the
 * cost of a page depends on the page and not on the journal.
 */
export async function* turnsBackwards(reader: JournalReader, through?: Position): AsyncIterable<StoredTurn> {
  const assembler = new TurnAssembler();
  for await (const placed of reader.backwards(through, TURN_RECORDS)) {
    // Commits after `through` were not read. They may contain the ends of commands of this turn, which are looked up.
    for (const turn of assembler.take(placed))
      yield through === undefined ? turn : await withLateEnds(reader, turn);
    if (assembler.done) return;
  }
}

/** Replaces commands that continued after their turn by their final items (`terminalEnded`). */
async function withLateEnds(reader: JournalReader, stored: StoredTurn): Promise<StoredTurn> {
  const { turn, end } = stored;
  if (end === undefined || !turn.items.some(isRunning)) return stored;
  const ends = new Map<string, ThreadItem>();
  const behind: Position = { ...end, seq: end.seq + 1 };
  for await (const { commit } of reader.naming("terminalEnded" satisfies ThreadRecord["type"], behind)) {
    for (const record of commit.records)
      if (record.type === "terminalEnded" && record.turnId === turn.id) ends.set(record.item.id, record.item);
  }
  return { ...stored, turn: { ...turn, items: turn.items.map((item) => ends.get(item.id) ?? item) } };
}

function isRunning(item: ThreadItem): boolean {
  return item.type === "commandExecution" && item.status === "inProgress";
}

/** All turns, oldest first, with their blobs inserted, without rolled-back turns. */
export async function allTurns(reader: JournalReader): Promise<Turn[]> {
  const turns: Turn[] = [];
  const assembler = new TurnAssembler();
  for await (const placed of reader.backwards(undefined, TURN_RECORDS)) {
    for (const { turn } of assembler.take(placed)) turns.push(turn);
    if (assembler.done) break;
  }
  return turnsWithBlobs(turns.reverse(), (name) => reader.blob(name));
}

const TURN_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The turn with an ID; undefined if there is none or if it was rolled back. Only commits that contain the ID are
 * parsed, because every record of a turn contains it.
 */
export async function turnNamed(reader: JournalReader, turnId: string): Promise<Turn | undefined> {
  // A text that is no turn ID could occur in every commit, and then all of them would be parsed.
  if (!TURN_ID.test(turnId)) return undefined;
  const commits: Placed[] = [];
  for await (const placed of reader.naming(turnId)) {
    const { commit } = placed;
    const records = commit.records.filter(
      (record) => record.type === "turnsDropped" || ("turnId" in record && record.turnId === turnId),
    );
    if (records.length > 0) commits.push({ ...placed, commit: { ...commit, records } });
  }
  const assembler = new TurnAssembler();
  while (commits.length > 0 && !assembler.done) {
    const [found] = assembler.take(commits.pop()!);
    if (found !== undefined) return found.turn;
  }
  return undefined;
}

/**
 * The turn that a commit belongs to. If it belongs to none, the last turn before the commit, even if that was rolled
 * back later.
 */
export async function turnOfCommit(reader: JournalReader, seq: number): Promise<StoredTurn | undefined> {
  for await (const { start } of turnsBackwards(reader, { seq })) {
    // The turn's end may be after the commit.
    for await (const whole of turnsForwards(reader, false, start)) return whole;
  }
  return undefined;
}

/**
 * The records that turns are assembled from. An item has the position of its `itemStarted` and the content of its
 * `itemCompleted`, if there is one.
 */
const TURN_RECORDS: WantedRecords = new Map<ThreadRecord["type"], Check>([
  [
    "turnStarted",
    fields(() => ({
      turnId: string(),
      at: time(),
      entered: omittable(ThreadItem),
      rootTurnId: omittable(string()),
    })),
  ],
  ["turnEnded", fields(() => ({ turnId: string(), startedAt: time(), at: time(), ...outcome() }))],
  ["turnsDropped", fields(() => ({ keepThrough: nullable(string()) }))],
  ["itemStarted", fields(() => ({ turnId: string(), item: inline(() => ({ id: string() })) }))],
  ["itemCompleted", fields(() => ({ turnId: string(), item: ThreadItem }))],
  ["terminalEnded", fields(() => ({ turnId: string(), item: ThreadItem }))],
]);

/**
 * The turns from a commit on, oldest first, without rolled-back ones. Only if `mayHaveDropped` is true, the rest of
 * the journal is searched for rollbacks.
 */
export async function* turnsForwards(
  reader: JournalReader,
  mayHaveDropped: boolean,
  from?: Position,
): AsyncIterable<StoredTurn> {
  const dropped = mayHaveDropped ? await droppedTurns(reader, from) : NO_TURNS;
  /** The commits of the current turn, reduced to the records between its start and its end. */
  let commits: Placed[] = [];
  const assembled = (): Promise<readonly StoredTurn[]> => {
    const assembler = new TurnAssembler();
    const turns = commits.reverse().flatMap((placed) => assembler.take(placed));
    commits = [];
    const effective = turns.filter(({ turn }) => !dropped.has(turn.id));
    return Promise.all(effective.map((turn) => withLateEnds(reader, turn)));
  };
  for await (const placed of reader.forwards(from, TURN_RECORDS)) {
    const { records } = placed.commit;
    const part = (start: number, end?: number): Placed => {
      return { ...placed, commit: { ...placed.commit, records: records.slice(start, end) } };
    };
    /** The index of the current turn's first record in this commit; undefined between turns. */
    let start = commits.length > 0 ? 0 : undefined;
    for (const [nth, { type }] of records.entries()) {
      if (type === "turnStarted") {
        if (start !== undefined) commits.push(part(start, nth));
        // The previous turn has no end record, as after a crash.
        yield* await assembled();
        start = nth;
      } else if (type === "turnEnded" && start !== undefined) {
        commits.push(part(start, nth + 1));
        yield* await assembled();
        start = undefined;
      }
    }
    if (start !== undefined) commits.push(part(start));
  }
  yield* await assembled();
}

const NO_TURNS: ReadonlySet<string> = new Set();

async function droppedTurns(reader: JournalReader, from: Position | undefined): Promise<ReadonlySet<string>> {
  const dropped = new Set<string>();
  for await (const { commit } of reader.naming("turnsDropped" satisfies ThreadRecord["type"], from)) {
    for (const record of commit.records) {
      if (record.type === "turnsDropped") for (const id of record.dropped) dropped.add(id);
    }
  }
  return dropped;
}

/** Assembles turns from commits that are given newest first. */
class TurnAssembler {
  #partial: PartialTurn | undefined;
  /** The final items of commands that continued after their calls, by turn and item. */
  readonly #lateEnds = new Map<string, ThreadItem>();
  /** Set while records are skipped because of a rollback: the turn at whose end the skipping stops. */
  #keepThrough: string | undefined;
  /** True after a rollback of all turns: all older turns are removed. */
  done = false;

  /** Adds a commit. Returns the turns that start in it. */
  take({ commit: { records, seq }, start, end }: Placed): readonly StoredTurn[] {
    let found: readonly StoredTurn[] = NONE;
    for (let at = records.length - 1; at >= 0; at--) {
      const record = records[at]!;
      // This record is read even among rolled-back turns: its command may have started in a turn that was kept.
      if (record.type === "terminalEnded") {
        this.#lateEnds.set(itemKey(record.turnId, record.item.id), record.item);
        continue;
      }
      if (this.#keepThrough !== undefined) {
        if (record.type !== "turnEnded" || record.turnId !== this.#keepThrough) continue;
        this.#keepThrough = undefined;
      }
      if (record.type === "turnsDropped") {
        this.done = record.keepThrough === null;
        if (record.keepThrough === null) return found;
        this.#keepThrough = record.keepThrough;
        continue;
      }
      this.#partial = addRecord(this.#partial, record, { seq, end }, this.#lateEnds);
      if (record.type !== "turnStarted" || this.#partial === undefined) continue;
      const turn = turnOf(this.#partial, record);
      found = [...found, { turn, start: { seq, hint: start }, end: this.#partial.end }];
      this.#partial = undefined;
    }
    return found;
  }
}

const NONE: readonly never[] = [];

interface PartialTurn {
  readonly id: string;
  ended: Extract<ThreadRecord, { type: "turnEnded" }> | undefined;
  end: Position | undefined;
  /** Newest first. */
  readonly items: ThreadItem[];
  readonly completed: Map<string, ThreadItem>;
}

function emptyTurn(id: string): PartialTurn {
  return { id, ended: undefined, end: undefined, items: [], completed: new Map() };
}

function itemKey(turnId: string, itemId: string): string {
  return `${turnId} ${itemId}`;
}

function addRecord(
  before: PartialTurn | undefined,
  record: ThreadRecord,
  { seq, end }: Pick<Placed, "end"> & { readonly seq: number },
  lateEnds: ReadonlyMap<string, ThreadItem>,
): PartialTurn | undefined {
  switch (record.type) {
    case "turnEnded":
      return { ...emptyTurn(record.turnId), ended: record, end: { seq, hint: end } };
    case "turnStarted":
    case "itemStarted":
    case "itemCompleted": {
      const partial = before ?? emptyTurn(record.turnId);
      if (record.type === "turnStarted") {
        if (record.entered !== undefined) partial.items.push(record.entered);
        return partial;
      }
      // An item has the position of its start and the content of its completion.
      const { item } = record;
      const completed = partial.completed.get(item.id) ?? lateEnds.get(itemKey(partial.id, item.id));
      if (record.type === "itemCompleted") partial.completed.set(item.id, item);
      else if (completed !== undefined) partial.items.push(completed);
      // A failed compaction is not shown.
      else if ((partial.ended === undefined || !isCompaction(item)) && conforms(ThreadItem, item))
        partial.items.push(item);
      return partial;
    }
    default:
      return before;
  }
}

function turnOf(
  { id, ended, items }: PartialTurn,
  { at, rootTurnId }: Extract<ThreadRecord, { type: "turnStarted" }>,
): Turn {
  const turn: Turn = { ...turnStarted(id, at, rootTurnId), items: items.toReversed(), itemsView: "full" };
  if (ended === undefined) return turn;
  return {
    ...turn,
    status: ended.status,
    error: ended.error,
    completedAt: seconds(ended.at),
    durationMs: Math.max(0, ended.at - ended.startedAt),
  };
}
