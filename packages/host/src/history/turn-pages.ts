import type {
  McpToolCallResult,
  Result,
  ThreadItem,
  ThreadItemOutputDeferral,
  ThreadItemsListCursor,
  Turn,
  TurnItemsView,
} from "@bobbin/protocol";
import type { ThreadState } from "../core/state.ts";
import { answerAmong } from "../core/turn/item-kinds.ts";
import { fault } from "../errors.ts";
import { HINT, type JournalReader, type Position } from "../store/journal.ts";
import { itemsWithBlobs, turnsWithBlobs } from "./restore-item-blobs.ts";
import { type StoredTurn, turnNamed, turnOfCommit, turnsBackwards, turnsForwards } from "./stored-turns.ts";

type Direction = "asc" | "desc";

interface TurnsQuery {
  readonly cursor?: string | null | undefined;
  readonly limit?: number | null | undefined;
  readonly sortDirection?: Direction | null | undefined;
  readonly itemsView?: TurnItemsView | null | undefined;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

/** The position of a row in a page: its turn, and its item's index within the turn. Rows are sorted by position. */
interface RowPosition {
  /** The turn's first commit. */
  readonly start: Position;
  readonly item: number;
  /** The last commit of the turn; undefined while the turn runs. */
  readonly end: Position | undefined;
}

/** The position where a page starts. `inclusive`: the page contains the row at this position. */
interface Anchor extends RowPosition {
  readonly inclusive: boolean;
}

/** The thread that pages are read from. */
interface Source {
  readonly journal: JournalReader;
  readonly state: Pick<ThreadState, "mayHaveDropped">;
}

/** One page of turns, newest first by default. */
export async function turnsPage(source: Source, query: TurnsQuery): Promise<Result<"thread/turns/list">> {
  const rowsOf = ({ turn, start, end }: StoredTurn): readonly Row<Turn>[] => {
    return [{ position: { start, item: 0, end }, value: withView(turn, query.itemsView ?? "summary") }];
  };
  const { data, ...rest } = await page(source, rowsOf, query, "desc");
  return { data: await turnsWithBlobs(data, (name) => source.journal.blob(name)), ...rest };
}

type ItemEntry = Result<"thread/items/list">["data"][number];

interface ItemsQuery extends Omit<TurnsQuery, "cursor"> {
  readonly cursor?: ThreadItemsListCursor | null | undefined;
  readonly turnId?: string | null | undefined;
  /** Which outputs to leave out. Counts only with a `turnId`. */
  readonly deferOutput?: ThreadItemOutputDeferral | null | undefined;
}

/** One page of items, oldest first by default. */
export async function itemsPage(source: Source, query: ItemsQuery): Promise<Result<"thread/items/list">> {
  const rowsOf = ({ turn, start, end }: StoredTurn): readonly Row<ItemEntry>[] => {
    if (query.turnId != null && turn.id !== query.turnId) return [];
    return turn.items.map((value, item) => ({
      position: { start, item, end },
      value: entryOf(turn.id, value),
    }));
  };
  const { cursor, deferOutput, ...rest } = query;
  const text =
    typeof cursor === "object" && cursor !== null
      ? await cursorOfItem(source, rowsOf, cursor.itemId)
      : cursor;
  const { data, ...cursors } = await page(source, rowsOf, { ...rest, cursor: text }, "asc");
  const deferral = query.turnId == null ? {} : (deferOutput ?? {});
  const shown = data.map((entry) => deferred(entry, deferral));
  return { data: await entriesWithBlobs(source.journal, shown), ...cursors };
}

/** The entry without its output, if the deferral names it. Outputs of failures and results with more than text stay. */
function deferred(entry: ItemEntry, deferral: ThreadItemOutputDeferral): ItemEntry {
  const { item } = entry;
  if (item.type === "commandExecution" && deferral.commandExecution === true) {
    if (item.status !== "completed" || !item.aggregatedOutput) return entry;
    return { ...entry, item: { ...item, aggregatedOutput: null }, outputDeferred: true };
  }
  if (item.type !== "mcpToolCall" || deferral.mcpToolCall !== true) return entry;
  if (item.status !== "completed" || !isPlainText(item.result)) return entry;
  return { ...entry, item: { ...item, result: { ...item.result, content: [] } }, outputDeferred: true };
}

function isPlainText(result: McpToolCallResult | null): result is McpToolCallResult {
  if (result === null || result.structuredContent != null || result.content.length === 0) return false;
  return result.content.every((part) => Object(part).type === "text");
}

async function entriesWithBlobs(journal: JournalReader, entries: readonly ItemEntry[]): Promise<ItemEntry[]> {
  const stored = entries.map(({ item }) => item);
  const items = await itemsWithBlobs(stored, (name) => journal.blob(name));
  return entries.map((entry, at) => ({ ...entry, item: items[at]! }));
}

/** The requested items of a turn, in the order of the turn. Items that do not exist are left out. */
export async function itemsOf(
  journal: JournalReader,
  turnId: string,
  itemIds: ReadonlySet<string>,
): Promise<ItemEntry[]> {
  const turn = await turnNamed(journal, turnId);
  const items = (turn?.items ?? []).filter(({ id }) => itemIds.has(id));
  return entriesWithBlobs(
    journal,
    items.map((item) => entryOf(turnId, item)),
  );
}

interface StartCursors {
  readonly turnsBackwardsCursor: string | null;
  readonly itemsBackwardsCursor: string | null;
}

/** The cursors at the end of a thread. A client that resumed with `excludeTurns` reads pages backwards from there. */
export async function startCursors(journal: JournalReader): Promise<StartCursors> {
  for await (const last of turnsBackwards(journal)) return cursorsAt(last);
  return cursorsAt(undefined);
}

/** Cursors at the last turn and its last item. */
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
  readonly position: RowPosition;
  readonly value: T;
}

/** The rows of a turn, oldest first. */
type RowsOf<T> = (turn: StoredTurn) => readonly Row<T>[];

async function page<T>(
  source: Source,
  rowsOf: RowsOf<T>,
  { cursor, limit, sortDirection }: TurnsQuery,
  defaultDirection: Direction,
): Promise<{ data: T[]; nextCursor: string | null; backwardsCursor: string | null }> {
  const anchor = cursor == null ? undefined : await anchorAt(source, cursor);
  const size = Math.min(MAX_LIMIT, Math.max(1, limit ?? DEFAULT_LIMIT));
  const direction = sortDirection ?? defaultDirection;
  const found: Row<T>[] = [];
  let more = false;
  for await (const row of rowsFrom(source, rowsOf, direction, anchor)) {
    if (anchor !== undefined && !reaches(anchor, row.position, direction)) continue;
    more = found.length === size;
    if (more) break;
    found.push(row);
  }
  const [first, last] = [found[0], found.at(-1)];
  return {
    data: found.map((row) => row.value),
    nextCursor: more && last ? cursorText({ ...last.position, inclusive: false }) : null,
    backwardsCursor: first ? cursorText({ ...first.position, inclusive: true }) : null,
  };
}

/** Rows in the requested direction, starting at the anchor's turn. */
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

/** Whether a position is on the requested side of the anchor. */
function reaches(anchor: Anchor, position: RowPosition, direction: Direction): boolean {
  const order = position.start.seq - anchor.start.seq || position.item - anchor.item;
  return order === 0 ? anchor.inclusive : order > 0 === (direction === "asc");
}

/** The cursor of an item, for clients that send an item's ID instead of a cursor. */
async function cursorOfItem<T extends ItemEntry>(
  source: Source,
  rowsOf: RowsOf<T>,
  itemId: string,
): Promise<string> {
  for await (const { position, value } of rowsFrom(source, rowsOf, "desc", undefined)) {
    if (value.item.id === itemId) return cursorText({ ...position, inclusive: true });
  }
  throw fault("invalidCursor", itemId);
}

/** A cursor at the turn of a commit. The turn is looked up only when a client uses the cursor. */
export function turnCursorAt(seq: number): string {
  return `@${seq}`;
}

async function anchorAt({ journal }: Source, cursor: string): Promise<Anchor> {
  const seq = /^@(\d{1,15})$/.exec(cursor)?.[1];
  if (seq === undefined) return parseCursor(cursor);
  const found = await turnOfCommit(journal, Number(seq));
  if (found === undefined) throw fault("invalidCursor", cursor);
  return { start: found.start, item: 0, end: found.end, inclusive: true };
}

/** The version of the cursor format. Cursors of older versions, which contained file offsets, are refused. */
const CURSOR_VERSION = "2";

function cursorText({ start, item, end, inclusive }: Anchor): string {
  const parts = [CURSOR_VERSION, positionText(start), item, end === undefined ? "" : positionText(end)];
  return `${parts.join(".")}${inclusive ? "i" : ""}`;
}

function positionText({ seq, hint = "" }: Position): string {
  return `${seq}-${hint}`;
}

const CURSOR = new RegExp(`^2\\.(\\d{1,15})-${HINT}\\.(\\d{1,9})\\.(?:(\\d{1,15})-${HINT})?(i?)$`);

function parseCursor(text: string): Anchor {
  const found = CURSOR.exec(text);
  if (found === null) throw fault("invalidCursor", text.slice(0, 100));
  const [, seq, hint, item, endSeq, endHint, inclusive] = found;
  return {
    start: { seq: Number(seq), hint },
    item: Number(item),
    end: endSeq === undefined ? undefined : { seq: Number(endSeq), hint: endHint },
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
      const answer = answerAmong(turn.items);
      return { ...turn, items: [question, answer].filter((item) => item !== undefined), itemsView: view };
    }
  }
}
