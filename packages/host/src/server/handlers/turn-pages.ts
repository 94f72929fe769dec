import type { Result, ThreadItem, ThreadItemsListCursor, Turn, TurnItemsView } from "@bobbin/protocol";
import type { ThreadState } from "../../core/state.ts";
import { fault } from "../../errors.ts";
import type { JournalReader } from "../../journal/journal.ts";
import { type StoredTurn, turnsBackwards, turnsForwards } from "../../thread/history.ts";

type Direction = "asc" | "desc";

interface TurnsQuery {
  readonly cursor?: string | null | undefined;
  readonly limit?: number | null | undefined;
  readonly sortDirection?: Direction | null | undefined;
  readonly itemsView?: TurnItemsView | null | undefined;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

/** A row's place: its turn's, and which of the turn's items it is. Rows are in the order of their places. */
interface Place {
  readonly start: number;
  readonly item: number;
  /** Behind the turn; undefined for one that runs. */
  readonly end: number | undefined;
}

/** A place to go on from, with the row that is there or without it. */
interface Anchor extends Place {
  readonly inclusive: boolean;
}

/** What pages are read of. */
interface Source {
  readonly journal: JournalReader;
  readonly state: Pick<ThreadState, "mayHaveDropped">;
}

/** One page of turns: newest first unless asked otherwise. */
export async function turnsPage(source: Source, query: TurnsQuery): Promise<Result<"thread/turns/list">> {
  const rowsOf = ({ turn, start, end }: StoredTurn): readonly Row<Turn>[] => {
    return [{ place: { start, item: 0, end }, value: withView(turn, query.itemsView ?? "summary") }];
  };
  return page(source, rowsOf, query, "desc");
}

type ItemEntry = Result<"thread/items/list">["data"][number];

interface ItemsQuery extends Omit<TurnsQuery, "cursor"> {
  readonly cursor?: ThreadItemsListCursor | null | undefined;
  readonly turnId?: string | null | undefined;
}

/** One page of items: oldest first unless asked otherwise. */
export async function itemsPage(source: Source, query: ItemsQuery): Promise<Result<"thread/items/list">> {
  const rowsOf = ({ turn, start, end }: StoredTurn): readonly Row<ItemEntry>[] => {
    if (query.turnId != null && turn.id !== query.turnId) return [];
    return turn.items.map((value, item) => ({ place: { start, item, end }, value: entryOf(turn.id, value) }));
  };
  const { cursor, ...rest } = query;
  const text =
    typeof cursor === "object" && cursor !== null ? await anchorOf(source, rowsOf, cursor.itemId) : cursor;
  return page(source, rowsOf, { ...rest, cursor: text }, "asc");
}

interface StartCursors {
  readonly turnsBackwardsCursor: string | null;
  readonly itemsBackwardsCursor: string | null;
}

/** Where a client that takes no turns with its resume goes on from. */
export async function startCursors(journal: JournalReader): Promise<StartCursors> {
  for await (const last of turnsBackwards(journal)) return cursorsAt(last);
  return cursorsAt(undefined);
}

/** The last turn and its last item. */
export function cursorsAt(last: StoredTurn | undefined): StartCursors {
  if (last === undefined) return { turnsBackwardsCursor: null, itemsBackwardsCursor: null };
  const { turn, start, end } = last;
  const item = Math.max(0, turn.items.length - 1);
  return {
    turnsBackwardsCursor: cursorText({ start, item: 0, end, inclusive: true }),
    itemsBackwardsCursor: cursorText({ start, item, end, inclusive: true }),
  };
}

interface Row<T> {
  readonly place: Place;
  readonly value: T;
}

/** The rows of a turn, oldest first. */
type RowsOf<T> = (turn: StoredTurn) => readonly Row<T>[];

async function page<T>(
  source: Source,
  rowsOf: RowsOf<T>,
  { cursor, limit, sortDirection }: TurnsQuery,
  normally: Direction,
): Promise<{ data: T[]; nextCursor: string | null; backwardsCursor: string | null }> {
  const anchor = cursor == null ? undefined : parseCursor(cursor);
  const size = Math.min(MAX_LIMIT, Math.max(1, limit ?? DEFAULT_LIMIT));
  const direction = sortDirection ?? normally;
  const found: Row<T>[] = [];
  let more = false;
  for await (const row of rowsFrom(source, rowsOf, direction, anchor)) {
    if (anchor !== undefined && !reaches(anchor, row.place, direction)) continue;
    more = found.length === size;
    if (more) break;
    found.push(row);
  }
  const [first, last] = [found[0], found.at(-1)];
  return {
    data: found.map((row) => row.value),
    nextCursor: more && last ? cursorText({ ...last.place, inclusive: false }) : null,
    backwardsCursor: first ? cursorText({ ...first.place, inclusive: true }) : null,
  };
}

/** Rows in the direction that is asked for, from the anchor's turn on. */
async function* rowsFrom<T>(
  { journal, state }: Source,
  rowsOf: RowsOf<T>,
  direction: Direction,
  anchor: Anchor | undefined,
): AsyncIterable<Row<T>> {
  if (direction === "asc") {
    for await (const turn of turnsForwards(journal, state.mayHaveDropped, anchor?.start)) yield* rowsOf(turn);
  } else {
    for await (const turn of turnsBackwards(journal, anchor?.end)) yield* rowsOf(turn).toReversed();
  }
}

/** Whether a place is on the side of the anchor that is asked for. */
function reaches(anchor: Anchor, place: Place, direction: Direction): boolean {
  const order = place.start - anchor.start || place.item - anchor.item;
  return order === 0 ? anchor.inclusive : order > 0 === (direction === "asc");
}

async function anchorOf<T extends ItemEntry>(
  source: Source,
  rowsOf: RowsOf<T>,
  itemId: string,
): Promise<string> {
  for await (const { place, value } of rowsFrom(source, rowsOf, "desc", undefined)) {
    if (value.item.id === itemId) return cursorText({ ...place, inclusive: true });
  }
  throw fault("invalidCursor", itemId);
}

function cursorText({ start, item, end, inclusive }: Anchor): string {
  return `${start}.${item}.${end ?? ""}${inclusive ? "i" : ""}`;
}

function parseCursor(text: string): Anchor {
  const found = /^(\d{1,15})\.(\d{1,9})\.(\d{0,15})(i?)$/.exec(text);
  if (found === null) throw fault("invalidCursor", text.slice(0, 100));
  const [, start, item, end, inclusive] = found;
  return {
    start: Number(start),
    item: Number(item),
    end: end === "" ? undefined : Number(end),
    inclusive: inclusive === "i",
  };
}

function entryOf(turnId: string, item: ThreadItem): ItemEntry {
  return { turnId, item, startedAtMs: item.startedAtMs ?? null, completedAtMs: item.completedAtMs ?? null };
}

function withView(turn: Turn, view: TurnItemsView): Turn {
  switch (view) {
    case "full":
      return turn;
    case "notLoaded":
      return { ...turn, items: [], itemsView: view };
    case "summary": {
      const question = turn.items.find((item) => item.type === "userMessage");
      const answer = turn.items.findLast((item) => item.type === "agentMessage");
      return { ...turn, items: [question, answer].filter((item) => item !== undefined), itemsView: view };
    }
  }
}
