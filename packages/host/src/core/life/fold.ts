import type { ThreadStatus } from "@bobbin/protocol";
import { foldGoalAdopted, foldGoalOpened } from "../goal/fold.ts";
import { EMPTY_QUEUE } from "../queue/records.ts";
import { NO_RAP } from "../rap/records.ts";
import type { ThreadState } from "../state.ts";
import { onlyWaits } from "../turn/calls.ts";
import type { LifeRecord } from "./records.ts";

type Created = Extract<LifeRecord, { type: "created" }>;
type Checkpoint = Extract<LifeRecord, { type: "checkpoint" }>;

const IDLE: ThreadStatus = { type: "idle" };
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
    requests: NONE,
    grants: NONE,
    callIds: NONE,
    callCount: 0,
    lastTurn: null,
  };
}

/** A checkpoint of an earlier version lacks what came later: as it was for a new thread. */
export function foldCheckpoint({ state }: Checkpoint): ThreadState {
  return { ...foldCreated({ ...state, at: state.createdAt }), ...state };
}

export function foldLife(
  state: ThreadState,
  record: Exclude<LifeRecord, { type: "created" | "checkpoint" }>,
): ThreadState {
  switch (record.type) {
    case "opened":
      return {
        ...state,
        epoch: record.epoch,
        loadEpoch: record.epoch,
        load: { ...state.load, ...state.pendingLoad, ...record.load },
        docs: record.docs ?? state.docs,
        pendingLoad: null,
        status: { type: "idle" },
        goal: foldGoalOpened(state.goal, record.at),
        untold: false,
        rap: NO_RAP,
      };
    case "adopted":
      return {
        ...state,
        epoch: record.epoch,
        status: record.status,
        // One that only waits has nothing to do with the end of a host.
        turn:
          state.turn &&
          (onlyWaits(state.turn) ? state.turn : { ...state.turn, lostHosts: state.turn.lostHosts + 1 }),
        goal: foldGoalAdopted(state.goal, record.at),
      };
    case "closed":
      return { ...state, status: { type: "notLoaded" }, untold: true, rap: NO_RAP, grants: [] };
    case "notified":
      return { ...state, untold: false, toldAt: record.at };
    case "statusChanged":
      return { ...state, status: record.status };
    case "settingsChanged":
      return { ...state, settings: record.settings };
    case "loadSettingsChanged":
      return { ...state, pendingLoad: { ...state.pendingLoad, ...record.changes } };
    case "renamed":
      return { ...state, name: record.name };
    case "gitInfoChanged":
      return { ...state, gitInfo: record.gitInfo };
    case "sectionChanged": {
      const { sectionId, position, at } = record;
      return { ...state, section: sectionId === null ? null : { id: sectionId, position, since: at } };
    }
    case "turnsDropped": {
      const { keepThrough } = record;
      const lastTurn = keepThrough === null ? null : ({ id: keepThrough, status: "completed" } as const);
      // The model may not have been shown it any more.
      return { ...state, lastTurn, context: NONE };
    }
    case "itemsInjected":
      // A reviewer is not shown the conversation, and who makes a summary has it in what is kept.
      if (state.turn?.kind !== "regular") return state;
      return { ...state, turn: { ...state.turn, injected: true } };
  }
}
