import type { ThreadState } from "../state.ts";
import type { LifeRecord } from "./records.ts";

export function foldLife(state: ThreadState | undefined, record: LifeRecord): ThreadState {
  if (record.type === "created") {
    return {
      facts: record.facts,
      settings: record.settings,
      createdAt: record.at,
      updatedAt: record.at,
      preview: "",
      status: { type: "idle" },
      usage: null,
      turn: null,
      lastTurn: null,
    };
  }
  if (state === undefined) throw new Error(`${record.type} before created`);
  switch (record.type) {
    case "statusChanged":
      return { ...state, status: record.status };
    case "settingsChanged":
      return { ...state, settings: { ...state.settings, ...record.changes } };
  }
}
