import { boolean, nullable, string } from "@bobbin/protocol/schema";
import { CollabAgentState } from "@bobbin/protocol/types";
import { silent } from "../notification.ts";
import { count, time } from "../number-schemas.ts";
import { RAP_EVENT } from "../rap/record-field-schemas.ts";
import { fields } from "../record-check.ts";
import type { RecordTable } from "../record-table.ts";
import { foldChildDue, foldChildEnded, foldChildMade } from "./fold.ts";
import {
  foldHelperClosed,
  foldHelperDue,
  foldHelperHeard,
  foldHelperInputSent,
  foldHelperInputTaken,
  foldHelperMade,
  foldHelperOpened,
  foldHelperTold,
} from "./fold-helper-threads.ts";
import { HELPER_INPUT, HELPER_START } from "./record-field-schemas.ts";
import type { ChildRecord } from "./records.ts";

/**
 * The fields that the definitions below share. A fork gets no child threads. Clients are sent no notification, because
 * the items of the tool calls show children.
 */
const ALIKE = { version: 1, notify: silent, durability: "written", inFork: "never" } as const;

export const CHILD_RECORDS: RecordTable<ChildRecord> = {
  childDue: {
    ...ALIKE,
    check: fields(() => ({ at: time(), childId: string(), event: RAP_EVENT, key: nullable(string()) })),
    fold: foldChildDue,
  },
  childMade: {
    ...ALIKE,
    check: fields(() => ({ at: time(), childId: string() })),
    fold: foldChildMade,
  },
  childEnded: {
    ...ALIKE,
    check: fields(() => ({ at: time(), childId: string() })),
    fold: foldChildEnded,
  },
  helperDue: {
    ...ALIKE,
    check: fields(() => ({
      at: time(),
      childId: string(),
      nickname: string(),
      role: nullable(string()),
      start: HELPER_START,
      input: HELPER_INPUT,
    })),
    fold: foldHelperDue,
    // Synced: after a power cut, no helper may run that its parent does not know of.
    durability: "synced",
  },
  helperMade: {
    ...ALIKE,
    check: fields(() => ({ at: time(), childId: string(), heard: count() })),
    fold: foldHelperMade,
  },
  helperOpened: {
    ...ALIKE,
    check: fields(() => ({
      at: time(),
      childId: string(),
      nickname: string(),
      role: nullable(string()),
      state: CollabAgentState,
      heard: count(),
    })),
    fold: foldHelperOpened,
  },
  helperInputSent: {
    ...ALIKE,
    check: fields(() => ({ at: time(), childId: string(), input: HELPER_INPUT })),
    fold: foldHelperInputSent,
    // Synced: after a power cut, no helper may work on input from a call that its parent does not know of.
    durability: "synced",
  },
  helperInputTaken: {
    ...ALIKE,
    check: fields(() => ({ at: time(), childId: string(), inputId: string(), seq: nullable(count()) })),
    fold: foldHelperInputTaken,
  },
  helperHeard: {
    ...ALIKE,
    check: fields(() => ({
      at: time(),
      childId: string(),
      seq: count(),
      state: CollabAgentState,
      untold: boolean(),
    })),
    fold: foldHelperHeard,
  },
  helperTold: {
    ...ALIKE,
    check: fields(() => ({ at: time(), childId: string(), seq: count() })),
    fold: foldHelperTold,
  },
  helperClosed: {
    ...ALIKE,
    check: fields(() => ({ at: time(), childId: string() })),
    fold: foldHelperClosed,
  },
};
