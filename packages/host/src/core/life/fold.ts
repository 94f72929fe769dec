import type { ThreadStatus } from "@bobbin/protocol";
import { childrenIn } from "../children/fold.ts";
import { foldGoalAdopted, foldGoalOpened } from "../goal/fold.ts";
import { EMPTY_QUEUE } from "../queue/records.ts";
import { NO_RAP } from "../rap/records.ts";
import { withoutGrants } from "../requests/grants.ts";
import { withoutDenials } from "../reviews/fold.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { onlyWaits } from "../turn/calls.ts";
import { withoutUndiffed } from "../turn/changes.ts";
import type { LifeRecord } from "./records.ts";

type Of<T extends LifeRecord["type"]> = Extract<LifeRecord, { type: T }>;
type Created = Of<"created">;
type Checkpoint = Of<"checkpoint">;
type Opened = Of<"opened">;
type Adopted = Of<"adopted">;
type Closed = Extract<LifeRecord, { type: "closed" }>;
type TurnsDropped = Of<"turnsDropped">;

const IDLE: ThreadStatus = { type: "idle" };
const NOT_LOADED: ThreadStatus = { type: "notLoaded" };
const NONE: readonly never[] = [];

/** What every thread starts with. */
export function foldCreated({
  at,
  facts,
  settings,
  load,
  docs,
}: Pick<Created, "at" | "facts" | "settings" | "load" | "docs">): ThreadState {
  return {
    facts,
    settings,
    load,
    docs,
    pendingLoad: null,
    epoch: 1,
    loadEpoch: 1,
    createdAt: at,
    updatedAt: at,
    lastAt: at,
    preview: "",
    hasUserMessage: false,
    name: null,
    gitInfo: null,
    section: null,
    status: IDLE,
    untold: false,
    toldAt: null,
    usage: null,
    contextTokens: 0,
    accepted: NONE,
    context: NONE,
    queue: EMPTY_QUEUE,
    rap: NO_RAP,
    goal: null,
    turn: null,
    terminals: NONE,
    children: NONE,
    requests: NONE,
    networkRules: NONE,
    grants: NONE,
    callIds: NONE,
    callCount: 0,
    mayHaveDropped: false,
    lastTurn: null,
  };
}

/** A checkpoint of an earlier version lacks what came later: as it was for a new thread, where that is known. */
export function foldCheckpoint({ state }: Checkpoint): ThreadState {
  const lastAt = state.lastAt ?? state.updatedAt;
  // The check of a checkpoint takes any item.
  const terminals = state.terminals?.filter(({ item }) => item.type === "commandExecution") ?? NONE;
  const created = foldCreated({ ...state, at: state.createdAt });
  const { children: _, ...rap } = state.rap;
  const children = childrenIn(state);
  const { networkRules = NONE } = state;
  return { ...created, mayHaveDropped: true, ...state, lastAt, terminals, children, networkRules, rap };
}

/** A load is a new beginning: what waited for one is bound, and nothing of tool servers and children is left. */
export function foldOpened(state: ThreadState, record: Opened): ThreadState {
  return {
    ...state,
    epoch: record.epoch,
    loadEpoch: record.epoch,
    load: { ...state.load, ...state.pendingLoad, ...record.load },
    docs: record.docs ?? state.docs,
    pendingLoad: null,
    status: IDLE,
    goal: foldGoalOpened(state.goal, record.at),
    untold: false,
    rap: NO_RAP,
    children: NONE,
  };
}

export function foldAdopted(state: ThreadState, { at, epoch, status }: Adopted): ThreadState {
  return { ...state, epoch, status, turn: adoptedTurn(state.turn), goal: foldGoalAdopted(state.goal, at) };
}

/** A turn that only waits has nothing to do with the end of a host. */
function adoptedTurn(turn: TurnState | null): TurnState | null {
  return turn === null || onlyWaits(turn) ? turn : { ...turn, lostHosts: turn.lostHosts + 1 };
}

export function foldClosed(state: ThreadState, { reason }: Closed): ThreadState {
  // What people allowed for the session outlives a restart of the host, and nothing else that closes a thread.
  const survives = reason === "shutdown" || reason === "lost";
  const closed = survives ? state : withoutDenials(withoutGrants(state));
  return { ...withoutUndiffed(closed), status: NOT_LOADED, untold: true, rap: NO_RAP, children: NONE };
}

export function foldTurnsDropped(state: ThreadState, { keepThrough }: TurnsDropped): ThreadState {
  const lastTurn = keepThrough === null ? null : ({ id: keepThrough, status: "completed" } as const);
  // The model may not have been shown it any more.
  return { ...state, lastTurn, context: NONE, mayHaveDropped: true };
}

export function foldItemsInjected(state: ThreadState): ThreadState {
  // A reviewer is not shown the conversation, and who makes a summary has it in what is kept.
  if (state.turn?.kind !== "regular") return state;
  return { ...state, turn: { ...state.turn, injected: true } };
}
