import type { ThreadState } from "../state.ts";
import type { LifeRecord } from "./records.ts";

type Created = Extract<LifeRecord, { type: "created" }>;

export function foldCreated({ at, facts, settings, load, docs }: Created): ThreadState {
  return {
    facts,
    settings,
    load,
    docs,
    pendingLoad: null,
    epoch: 1,
    createdAt: at,
    updatedAt: at,
    preview: "",
    hasUserMessage: false,
    name: null,
    gitInfo: null,
    section: null,
    status: { type: "idle" },
    usage: null,
    turn: null,
    lastTurn: null,
  };
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
        load: { ...state.load, ...state.pendingLoad, ...record.load },
        docs: record.docs ?? state.docs,
        pendingLoad: null,
        status: { type: "idle" },
      };
    case "closed":
      return { ...state, status: { type: "notLoaded" } };
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
      return { ...state, lastTurn: keepThrough === null ? null : { id: keepThrough, status: "completed" } };
    }
    case "itemsInjected":
      return state;
  }
}
