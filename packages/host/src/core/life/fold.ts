import type { ThreadStatus } from "@bobbin/protocol";
import { withoutDenials } from "../approval-reviews/fold.ts";
import { childrenIn } from "../children/fold.ts";
import { withoutHelpers } from "../children/fold-helper-threads.ts";
import { NO_HELPERS } from "../children/helper-thread-state.ts";
import { foldGoalAdopted, foldGoalOpened } from "../goal/fold.ts";
import { EMPTY_QUEUE } from "../queue/records.ts";
import { withCancelList } from "../rap/fold.ts";
import { NO_RAP } from "../rap/records.ts";
import { withoutAnyGrant } from "../requests/grants.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { onlyWaits } from "../turn/call-stages.ts";
import { turnFromCheckpoint } from "../turn/checkpoint-turn.ts";
import { withoutUndiffed } from "../turn/file-changes.ts";
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

/** The state of a new thread. */
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
    helpers: NO_HELPERS,
    requests: NONE,
    networkRules: NONE,
    grants: NONE,
    callIds: NONE,
    callCount: 0,
    mayHaveDropped: false,
    lastTurn: null,
  };
}

/** The state in a checkpoint. Fields that an older checkpoint lacks get the values of a new thread. */
export function foldCheckpoint({ state }: Checkpoint): ThreadState {
  const lastAt = state.lastAt ?? state.updatedAt;
  // The validation of checkpoints does not verify that these items are commands.
  const terminals = state.terminals?.filter(({ item }) => item.type === "commandExecution") ?? NONE;
  const { children: _, ...rap } = state.rap;
  const children = childrenIn(state);
  const { networkRules = NONE, helpers = NO_HELPERS } = state;
  const turn = state.turn === null ? null : turnFromCheckpoint(state.turn);
  return {
    mayHaveDropped: true,
    ...state,
    lastAt,
    terminals,
    children,
    helpers,
    networkRules,
    rap,
    turn,
  };
}

/** The start of a load: pending load settings take effect, and the state of tool servers and children is reset. */
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
    helpers: withoutHelpers(state),
  };
}

export function foldAdopted(state: ThreadState, { at, epoch, status }: Adopted): ThreadState {
  return { ...state, epoch, status, turn: adoptedTurn(state.turn), goal: foldGoalAdopted(state.goal, at) };
}

/**
 * Counts one more host that died during the turn. A turn that only waits is not counted, because it cannot have
 * killed the host.
 */
function adoptedTurn(turn: TurnState | null): TurnState | null {
  return turn === null || onlyWaits(turn) ? turn : { ...turn, lostHosts: turn.lostHosts + 1 };
}

export function foldClosed(state: ThreadState, { reason }: Closed): ThreadState {
  // Grants survive a shutdown and a crash of the host. Any other close of the thread removes them.
  const survives = reason === "shutdown" || reason === "lost";
  const closed = survives ? state : withoutDenials(withoutAnyGrant(state));
  return {
    ...withoutUndiffed(closed),
    status: NOT_LOADED,
    untold: true,
    rap: withCancelList(NO_RAP, state.rap.cancels ?? NONE),
    children: NONE,
    helpers: withoutHelpers(closed),
  };
}

export function foldTurnsDropped(state: ThreadState, { keepThrough }: TurnsDropped): ThreadState {
  const lastTurn = keepThrough === null ? null : ({ id: keepThrough, status: "completed" } as const);
  // Clears the additional context, because it may have been part of the dropped turns.
  return { ...state, lastTurn, context: NONE, mayHaveDropped: true };
}

export function foldItemsInjected(state: ThreadState): ThreadState {
  // Only regular turns: a code review does not include the conversation, and a compaction retains injected items.
  if (state.turn?.kind !== "regular") return state;
  return { ...state, turn: { ...state.turn, injected: true } };
}
