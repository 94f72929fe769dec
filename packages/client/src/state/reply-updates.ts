import type { Thread, Turn } from "@bobbin/protocol";
import { type RunningItem, withOutdatedText } from "./running-item.ts";
import type { LoadedSettings, ThreadEvent, ThreadState, TurnState } from "./thread-state.ts";
import { runningItems, turnState } from "./turn-updates.ts";

type Loaded = Extract<ThreadEvent, { type: "loaded" }>;

/** The state after the reply to `thread/start`, `thread/resume` or `thread/fork`. */
export function afterLoad(state: ThreadState, { result, again = false }: Loaded): ThreadState {
  const settings: LoadedSettings = {
    model: result.model,
    modelProvider: result.modelProvider,
    cwd: result.cwd,
    effort: result.reasoningEffort,
    approvalPolicy: result.approvalPolicy,
    approvalsReviewer: result.approvalsReviewer,
    sandbox: result.sandbox,
    serviceTier: result.serviceTier,
  };
  if ("replay" in result && result.replay?.gap === false) {
    // All missed notifications follow, in order. Running text is sent again from its beginning.
    const running = new Map<string, RunningItem>();
    for (const [id, one] of state.running) running.set(id, withOutdatedText(one));
    return { ...state, settings, thread: withoutTurns(result.thread), running };
  }
  const hasGap = "replay" in result && result.replay?.gap === true;
  const page = "initialTurnsPage" in result ? result.initialTurnsPage : undefined;
  const turns = page == null ? result.thread.turns : inOrder(page.data);
  const known = hasGap && turns.length === 0 ? state.turns : withKnown(turns, state.turns);
  return {
    ...withThread(state, result.thread),
    settings,
    turns: known,
    running: runningItems(known.map(asTurn), again ? state.running : new Map()),
    // The host sends unanswered requests again. A loaded thread is not archived.
    requests: again ? state.requests : [],
    archived: false,
    deleted: false,
    cursor: again ? state.cursor : null,
    stale: { turns: hasGap && turns.length === 0, queue: true },
  };
}

/** The state after `thread/read`. Running text is kept, because the reply does not have it. */
export function afterRead(state: ThreadState, thread: Thread, includesTurns: boolean): ThreadState {
  const next = withThread(state, thread);
  if (!includesTurns) return next;
  return {
    ...next,
    turns: withKnown(thread.turns, state.turns),
    running: runningItems(thread.turns, state.running),
    stale: { ...state.stale, turns: false },
  };
}

/** Adds turns from before the known ones to the state. */
export function withOlderTurns(state: ThreadState, older: readonly Turn[]): ThreadState {
  const known = new Set(state.turns.map(({ id }) => id));
  const added = older.filter(({ id }) => !known.has(id)).map(turnState);
  return added.length === 0 ? state : { ...state, turns: [...added, ...state.turns] };
}

function withThread(state: ThreadState, thread: Thread): ThreadState {
  return { ...state, thread: withoutTurns(thread), status: thread.status, name: thread.name };
}

export function withoutTurns({ turns: _turns, ...thread }: Thread): Omit<Thread, "turns"> {
  return thread;
}

/** The turns of a reply, with the data that only notifications contain. */
function withKnown(turns: readonly Turn[], before: readonly TurnState[]): readonly TurnState[] {
  const known = new Map(before.map((turn) => [turn.id, turn]));
  return turns.map((turn) => {
    const { plan = null, diff = null } = known.get(turn.id) ?? {};
    return { ...turnState(turn), plan, diff };
  });
}

function asTurn({ items, ...turn }: TurnState): Turn {
  return { ...turn, items: [...items] };
}

/** Sorts the turns of a page, which may be in either order. IDs of turns grow with time. */
function inOrder(turns: readonly Turn[]): readonly Turn[] {
  const [first, last] = [turns[0], turns.at(-1)];
  return first !== undefined && last !== undefined && first.id > last.id ? turns.toReversed() : turns;
}
