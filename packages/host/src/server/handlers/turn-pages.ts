import type { Result, ThreadItem, ThreadItemsListCursor, Turn, TurnItemsView } from "@bobbin/protocol";
import { fault } from "../../errors.ts";
import type { JournalReader } from "../../journal/journal.ts";
import { type StoredTurn, turnsBackwards } from "../../thread/history.ts";

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

/** One page of turns, read from the tail: newest first unless asked otherwise. */
export async function turnsPage(
  journal: JournalReader,
  query: TurnsQuery,
): Promise<Result<"thread/turns/list">> {
  const rows = async function* (before: number | undefined): AsyncIterable<Row<Turn>> {
    for await (const { turn, start, end } of turnsBackwards(journal, before)) {
      yield { place: { start, item: 0, end }, value: withView(turn, query.itemsView ?? "summary") };
    }
  };
  return page(rows, query, "desc");
}

type ItemEntry = Result<"thread/items/list">["data"][number];

interface ItemsQuery extends Omit<TurnsQuery, "cursor"> {
  readonly cursor?: ThreadItemsListCursor | null | undefined;
  readonly turnId?: string | null | undefined;
}

/** One page of items: oldest first unless asked otherwise. */
export async function itemsPage(
  journal: JournalReader,
  query: ItemsQuery,
): Promise<Result<"thread/items/list">> {
  const rows = async function* (before: number | undefined): AsyncIterable<Row<ItemEntry>> {
    for await (const { turn, start, end } of turnsBackwards(journal, before)) {
      if (query.turnId != null && turn.id !== query.turnId) continue;
      for (let item = turn.items.length - 1; item >= 0; item--) {
        yield { place: { start, item, end }, value: entryOf(turn.id, turn.items[item]!) };
      }
    }
  };
  const { cursor, ...rest } = query;
  const text = typeof cursor === "object" && cursor !== null ? await anchorOf(rows, cursor.itemId) : cursor;
  return page(rows, { ...rest, cursor: text }, "asc");
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

/** `rows` come newest first; a page the other way round is the last few of them before its anchor. */
async function page<T>(
  rows: (before: number | undefined) => AsyncIterable<Row<T>>,
  { cursor, limit, sortDirection }: TurnsQuery,
  normally: Direction,
): Promise<{ data: T[]; nextCursor: string | null; backwardsCursor: string | null }> {
  const anchor = cursor == null ? undefined : parseCursor(cursor);
  const size = Math.min(MAX_LIMIT, Math.max(1, limit ?? DEFAULT_LIMIT));
  const direction = sortDirection ?? normally;
  const found: Row<T>[] = [];
  let more = false;
  if (direction === "desc") {
    for await (const row of rows(anchor?.end)) {
      if (anchor !== undefined && !reaches(anchor, row.place, -1)) continue;
      more = found.length === size;
      if (more) break;
      found.push(row);
    }
  } else {
    for await (const row of rows(undefined)) {
      if (anchor !== undefined && !reaches(anchor, row.place, 1)) break;
      found.unshift(row);
      if (found.length > size) {
        found.pop();
        more = true;
      }
    }
  }
  const [first, last] = [found[0], found.at(-1)];
  return {
    data: found.map((row) => row.value),
    nextCursor: more && last ? cursorText({ ...last.place, inclusive: false }) : null,
    backwardsCursor: first ? cursorText({ ...first.place, inclusive: true }) : null,
  };
}

/** Whether a place is on the side of the anchor that is asked for. */
function reaches(anchor: Anchor, place: Place, side: 1 | -1): boolean {
  const order = place.start - anchor.start || place.item - anchor.item;
  return order === 0 ? anchor.inclusive : Math.sign(order) === side;
}

async function anchorOf(
  rows: (before: undefined) => AsyncIterable<Row<ItemEntry>>,
  itemId: string,
): Promise<string> {
  for await (const { place, value } of rows(undefined)) {
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
