import { enumeration, integer, nullable, string } from "@bobbin/protocol/schema";
import { silent, toSubscribers } from "../notification.ts";
import { time } from "../number-schemas.ts";
import { fields } from "../record-check.ts";
import type { RecordTable } from "../record-table.ts";
import { withMoreContext } from "../turn/context-size.ts";
import {
  foldCancelNotified,
  foldChoiceDelayed,
  foldChoiceMade,
  foldChoicePosted,
  foldEventInjected,
  foldEventReceived,
  foldSubscribed,
  foldSubscriptionEnded,
  foldViewUpdated,
} from "./fold.ts";
import { LATE_CALL, MADE_CHOICE, OUTSIDE_CALL, RAP_EVENT, VIEW_CONTENT } from "./record-field-schemas.ts";
import type { RapRecord } from "./records.ts";

/** The records of tool servers. A fork gets no subscriptions, deferred calls or choices. */
export const RAP_RECORDS: RecordTable<RapRecord> = {
  subscribed: {
    version: 1,
    check: fields(() => ({ turnId: string(), at: time(), subscription: OUTSIDE_CALL })),
    fold: (state, record) => ({ ...state, rap: foldSubscribed(state.rap, record) }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  subscriptionEnded: {
    version: 1,
    check: fields(() => ({ at: time(), callId: string(), by: enumeration("", ["final", "cancelled"]) })),
    fold: (state, record) => ({ ...state, rap: foldSubscriptionEnded(state.rap, record) }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  cancelNotified: {
    version: 1,
    check: fields(() => ({ at: time(), callId: string() })),
    fold: (state, record) => ({ ...state, rap: foldCancelNotified(state.rap, record) }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  callDeferred: {
    version: 1,
    check: fields(() => ({ turnId: string(), at: time(), call: LATE_CALL })),
    fold: (state, { call }) => ({ ...state, rap: { ...state.rap, late: [...state.rap.late, call] } }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  eventReceived: {
    version: 1,
    check: fields(() => ({ at: time(), event: RAP_EVENT, key: nullable(string()) })),
    fold: (state, record) => ({ ...state, rap: foldEventReceived(state.rap, record) }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  eventInjected: {
    version: 1,
    check: fields(() => ({ turnId: string(), at: time(), event: RAP_EVENT })),
    fold: (state, record) =>
      withMoreContext({ ...state, rap: foldEventInjected(state.rap, record) }, record.event.output),
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  callNoted: {
    version: 1,
    check: fields(() => ({ turnId: string(), at: time(), text: string() })),
    fold: (state) => state,
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  choiceMade: {
    version: 1,
    check: fields(() => ({ at: time(), choice: MADE_CHOICE })),
    fold: (state, record) => ({ ...state, rap: foldChoiceMade(state.rap, record) }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  choiceDelayed: {
    version: 1,
    check: fields(() => ({ at: time(), requestId: integer(), until: time() })),
    fold: (state, record) => ({ ...state, rap: foldChoiceDelayed(state.rap, record) }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  choicePosted: {
    version: 1,
    check: fields(() => ({ at: time(), requestId: integer() })),
    fold: (state, record) => ({ ...state, rap: foldChoicePosted(state.rap, record) }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  viewUpdated: {
    version: 1,
    check: fields(() => ({
      at: time(),
      server: string(),
      callId: string(),
      viewType: string(),
      view: VIEW_CONTENT,
    })),
    fold: (state, record) => ({ ...state, rap: foldViewUpdated(state.rap, record) }),
    notify: (threadId, { server, callId, viewType, view }) => [
      toSubscribers("thread/view/updated", { threadId, server, callId, viewType, view }),
    ],
    durability: "written",
    inFork: "never",
  },
};
