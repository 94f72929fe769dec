import { array, nullable, string } from "@bobbin/protocol/schema";
import { HookEventName, HookRunSummary } from "@bobbin/protocol/types";
import { silent, toSubscribers } from "../notification.ts";
import { time } from "../number-schemas.ts";
import { fields } from "../record-check.ts";
import type { RecordTable } from "../record-table.ts";
import { withTurn } from "../turn/fold.ts";
import { foldHooksEnded } from "./fold.ts";
import { HOOK_OUTCOME, LAST_HOOKS } from "./record-field-schemas.ts";
import type { HookRecord } from "./records.ts";

export const HOOK_RECORDS: RecordTable<HookRecord> = {
  hooksStarted: {
    version: 1,
    check: fields(() => ({ turnId: string(), at: time(), runs: array(HookRunSummary) })),
    fold: (state) => state,
    notify: (threadId, { turnId, runs }) =>
      runs.map((run) => toSubscribers("hook/started", { threadId, turnId, run: { ...run } })),
    durability: "written",
    inFork: "never",
  },
  hooksEnded: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      at: time(),
      event: HookEventName,
      subject: nullable(string()),
      runs: array(HookRunSummary),
      outcome: HOOK_OUTCOME,
    })),
    fold: foldHooksEnded,
    notify: (threadId, { turnId, runs }) =>
      runs.map((run) => toSubscribers("hook/completed", { threadId, turnId, run: { ...run } })),
    durability: "written",
    // The outcome is part of the model's history.
    inFork: "withTurn",
  },
  lastHooksDue: {
    version: 1,
    check: fields(() => ({ turnId: string(), at: time(), event: LAST_HOOKS })),
    fold: (state, { turnId, event }) => withTurn(state, turnId, () => ({ phase: { kind: "hooks", event } })),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
};
