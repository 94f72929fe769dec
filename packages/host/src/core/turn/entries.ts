import { silent, toSubscribers } from "../notification.ts";
import type { RecordEntries } from "../record-entry.ts";
import { withAccepted } from "./accepted.ts";
import { withMoreContext } from "./context-size.ts";
import {
  foldCompacted,
  foldCompactionFailed,
  foldCompactionRequested,
  foldItemCompleted,
  foldItemStarted,
  foldSampleRequested,
  foldTextSaved,
  foldToolAnswered,
  foldToolCalled,
  foldToolWaiting,
  foldTurnEnded,
  foldTurnStarted,
  foldUsageReported,
  withStage,
  withTurn,
} from "./fold.ts";
import { contextAfter } from "./given-context.ts";
import type { TurnRecord } from "./records.ts";
import { turnCompleted, turnStarted } from "./views.ts";

export const TURN_RECORDS: RecordEntries<TurnRecord> = {
  turnStarted: {
    version: 1,
    fold: foldTurnStarted,
    notify: (threadId, { turnId, at }) => [
      toSubscribers("turn/started", { threadId, turn: turnStarted(turnId, at) }),
    ],
    durability: "written",
    inFork: "withTurn",
  },
  inputAccepted: {
    version: 1,
    fold: (state, { messageId: id, turnId }) => ({
      ...state,
      accepted: withAccepted(state.accepted, { id, turnId }),
    }),
    notify: silent,
    durability: "written",
    // How clients named their input is known to the thread that took it.
    inFork: "never",
  },
  contextGiven: {
    version: 1,
    fold: (state, record) => {
      const given = record.entries.map(({ value }) => value).join("");
      return withMoreContext({ ...state, context: contextAfter(state.context, record) }, given);
    },
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  sampleRequested: {
    version: 1,
    fold: foldSampleRequested,
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  retrying: {
    version: 1,
    fold: (state, { turnId, retry, until }) =>
      withTurn(state, turnId, () => ({ retries: retry, retryAt: until })),
    notify: (threadId, { turnId, error }) => [
      toSubscribers("error", { threadId, turnId, error, willRetry: true }),
    ],
    durability: "written",
    inFork: "withTurn",
  },
  itemStarted: {
    version: 1,
    fold: foldItemStarted,
    notify: (threadId, { turnId, item, at }) => [
      toSubscribers("item/started", { threadId, turnId, item, startedAtMs: at }),
    ],
    durability: "written",
    inFork: "withTurn",
  },
  textSaved: {
    version: 1,
    fold: foldTextSaved,
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  itemCompleted: {
    version: 1,
    fold: foldItemCompleted,
    notify: (threadId, { turnId, item, at }) => [
      toSubscribers("item/completed", { threadId, turnId, item, completedAtMs: at }),
    ],
    durability: "written",
    inFork: "withTurn",
  },
  toolCalled: {
    version: 1,
    fold: foldToolCalled,
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  toolDispatched: {
    version: 1,
    fold: (state, record) => {
      const { again, via, at } = record;
      return withStage(state, record, { kind: "dispatched", again, via, at });
    },
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  toolWaiting: {
    version: 1,
    fold: foldToolWaiting,
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  toolAnswered: {
    version: 1,
    fold: foldToolAnswered,
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  callCancelled: {
    version: 1,
    fold: (state, record) => withStage(state, record, { kind: "settled" }),
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  approvalGranted: {
    version: 1,
    fold: (state, { key }) => ({ ...state, grants: [...state.grants, key] }),
    notify: silent,
    durability: "written",
    // A fork asks its own users.
    inFork: "never",
  },
  planUpdated: {
    version: 1,
    fold: (state) => state,
    notify: (threadId, { turnId, explanation, plan }) => [
      toSubscribers("turn/plan/updated", { threadId, turnId, explanation, plan: [...plan] }),
    ],
    durability: "written",
    inFork: "withTurn",
  },
  compactionRequested: {
    version: 1,
    fold: foldCompactionRequested,
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  compacted: {
    version: 1,
    fold: foldCompacted,
    notify: (threadId, { turnId, usage }) => [
      toSubscribers("thread/tokenUsage/updated", { threadId, turnId, tokenUsage: usage }),
      toSubscribers("thread/compacted", { threadId, turnId }),
    ],
    durability: "written",
    inFork: "withTurn",
  },
  compactionFailed: {
    version: 1,
    fold: foldCompactionFailed,
    notify: (threadId, { error }) => [
      toSubscribers("warning", {
        threadId,
        message: `The conversation could not be made shorter, and goes on as it is: ${error.message}`,
      }),
    ],
    durability: "written",
    inFork: "withTurn",
  },
  modelRerouted: {
    version: 1,
    fold: (state, { turnId, to }) => withTurn(state, turnId, () => ({ servedBy: to })),
    notify: (threadId, { turnId, from: fromModel, to: toModel }) => [
      // The only reason that clients know.
      toSubscribers("model/rerouted", {
        threadId,
        turnId,
        fromModel,
        toModel,
        reason: "highRiskCyberActivity",
      }),
    ],
    durability: "written",
    inFork: "withTurn",
  },
  sampleLost: {
    version: 1,
    fold: (state, { turnId }) => withTurn(state, turnId, () => ({ sampled: true })),
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  usageReported: {
    version: 1,
    fold: foldUsageReported,
    notify: (threadId, { turnId, usage }) => [
      toSubscribers("thread/tokenUsage/updated", { threadId, turnId, tokenUsage: usage }),
    ],
    durability: "written",
    inFork: "withTurn",
  },
  turnEnded: {
    version: 1,
    fold: foldTurnEnded,
    notify: (threadId, record) => {
      const { turnId, error } = record;
      const completed = toSubscribers("turn/completed", { threadId, turn: turnCompleted(record) });
      if (error === null) return [completed];
      return [toSubscribers("error", { threadId, turnId, error, willRetry: false }), completed];
    },
    durability: "synced",
    inFork: "withTurn",
  },
};
