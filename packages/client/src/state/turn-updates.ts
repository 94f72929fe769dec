import type { ThreadItem, Turn } from "@bobbin/protocol";
import { type RunningItem, runningItem, withStreamedText } from "./running-item.ts";
import type { ThreadState, TurnState } from "./thread-state.ts";

const NOT_IN_REPLIES = { plan: null, diff: null, retrying: null };

export function turnState(turn: Turn): TurnState {
  return { ...turn, ...NOT_IN_REPLIES };
}

/** A turn whose start was not seen. */
function unseenTurn(id: string): TurnState {
  return turnState({
    id,
    rootTurnId: id,
    items: [],
    itemsView: "notLoaded",
    status: "inProgress",
    error: null,
    startedAt: null,
    completedAt: null,
    durationMs: null,
  });
}

/** Changes one turn, which is added if it is new. */
export function withTurn(
  state: ThreadState,
  turnId: string,
  change: (turn: TurnState) => TurnState,
): ThreadState {
  const at = state.turns.findLastIndex(({ id }) => id === turnId);
  if (at === -1) return { ...state, turns: [...state.turns, change(unseenTurn(turnId))] };
  return { ...state, turns: state.turns.with(at, change(state.turns[at]!)) };
}

/** Puts an item into its turn: in its place if the turn has it, else at the end. */
export function withItem(state: ThreadState, turnId: string, item: ThreadItem): ThreadState {
  return withTurn(state, turnId, (turn) => {
    const at = turn.items.findLastIndex(({ id }) => id === item.id);
    return {
      ...turn,
      itemsView: "full",
      retrying: null,
      items: at === -1 ? [...turn.items, item] : turn.items.with(at, item),
    };
  });
}

export function withRunning(state: ThreadState, itemId: string, running: RunningItem | null): ThreadState {
  if (running === null && !state.running.has(itemId)) return state;
  const all = new Map(state.running);
  if (running === null) all.delete(itemId);
  else all.set(itemId, running);
  return { ...state, running: all };
}

/**
 * Ends running items that get no `item/completed`, because the model's answer broke off. Each keeps the text that was
 * received. `which` selects the items.
 */
export function withBrokenOff(
  state: ThreadState,
  turnId: string,
  which: (item: ThreadItem) => boolean,
): ThreadState {
  const turn = state.turns.findLast(({ id }) => id === turnId);
  if (turn === undefined || state.running.size === 0) return state;
  const ended = turn.items.filter((item) => state.running.has(item.id) && which(item));
  if (ended.length === 0) return state;
  const running = new Map(state.running);
  const texts = new Map(ended.map((item) => [item.id, withStreamedText(item, running.get(item.id)!)]));
  /** Whether the rest of a text was sent while there was no connection. The host does not send it again. */
  const isCut = ended.some(({ id }) => running.get(id)!.outdated.length > 0);
  for (const { id } of ended) running.delete(id);
  const next = withTurn({ ...state, running }, turnId, (one) => ({
    ...one,
    items: one.items.map((item) => texts.get(item.id) ?? item),
  }));
  return isCut ? { ...next, stale: { ...next.stale, turns: true } } : next;
}

/** Items that the model writes: they end with their turn, and when a user's message breaks the answer off. */
export function isWrittenByModel({ type }: ThreadItem): boolean {
  return type === "agentMessage" || type === "reasoning" || type === "plan";
}

/** Whether an item of a reply still runs. */
function runs(item: ThreadItem, turn: Turn): boolean {
  if (item.type === "commandExecution") return item.status === "inProgress";
  return turn.status === "inProgress" && item.startedAtMs != null && item.completedAtMs == null;
}

/** The running items of a reply. The text of those in `before` is kept: the host does not send it again. */
export function runningItems(
  turns: readonly Turn[],
  before: ReadonlyMap<string, RunningItem>,
): ReadonlyMap<string, RunningItem> {
  const running = new Map<string, RunningItem>();
  for (const turn of turns) {
    for (const item of turn.items) {
      if (runs(item, turn)) running.set(item.id, before.get(item.id) ?? runningItem(turn.id, item));
    }
  }
  return running;
}
