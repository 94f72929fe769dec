import { silent, toSubscribers } from "../notification.ts";
import type { RecordEntries } from "../record-entry.ts";
import { withMoreContext } from "../turn/context-size.ts";
import {
  foldChildDue,
  foldChildEnded,
  foldChildMade,
  foldChoiceDelayed,
  foldChoiceMade,
  foldChoicePosted,
  foldEventInjected,
  foldEventReceived,
  foldSubscribed,
  foldSubscriptionEnded,
  foldViewUpdated,
} from "./fold.ts";
import type { RapRecord } from "./records.ts";

/** Subscriptions, late calls, choices and children belong to one load of one thread: a fork gets none of them. */
export const RAP_RECORDS: RecordEntries<RapRecord> = {
  subscribed: {
    version: 1,
    fold: (state, record) => ({ ...state, rap: foldSubscribed(state.rap, record) }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  subscriptionEnded: {
    version: 1,
    fold: (state, record) => ({ ...state, rap: foldSubscriptionEnded(state.rap, record) }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  callDeferred: {
    version: 1,
    fold: (state, { call }) => ({ ...state, rap: { ...state.rap, late: [...state.rap.late, call] } }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  eventReceived: {
    version: 1,
    fold: (state, record) => ({ ...state, rap: foldEventReceived(state.rap, record) }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  eventInjected: {
    version: 1,
    fold: (state, record) =>
      withMoreContext({ ...state, rap: foldEventInjected(state.rap, record) }, record.event.output),
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  callNoted: {
    version: 1,
    fold: (state) => state,
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  childDue: {
    version: 1,
    fold: (state, record) => ({ ...state, rap: foldChildDue(state.rap, record) }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  childMade: {
    version: 1,
    fold: (state, record) => ({ ...state, rap: foldChildMade(state.rap, record) }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  childEnded: {
    version: 1,
    fold: (state, record) => ({ ...state, rap: foldChildEnded(state.rap, record) }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  choiceMade: {
    version: 1,
    fold: (state, record) => ({ ...state, rap: foldChoiceMade(state.rap, record) }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  choiceDelayed: {
    version: 1,
    fold: (state, record) => ({ ...state, rap: foldChoiceDelayed(state.rap, record) }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  choicePosted: {
    version: 1,
    fold: (state, record) => ({ ...state, rap: foldChoicePosted(state.rap, record) }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  viewUpdated: {
    version: 1,
    fold: (state, record) => ({ ...state, rap: foldViewUpdated(state.rap, record) }),
    notify: (threadId, { server, callId, viewType, view }) => [
      toSubscribers("thread/view/updated", { threadId, server, callId, viewType, view }),
    ],
    durability: "written",
    inFork: "never",
  },
};
