import { array, boolean, enumeration, nullable, omittable, string, unknown } from "@bobbin/protocol/schema";
import {
  FunctionCallOutputBody,
  ThreadItem,
  ThreadTokenUsage,
  TokenUsageBreakdown,
  TurnError,
  TurnPlanStep,
  UserInput,
} from "@bobbin/protocol/types";
import { silent, toSubscribers } from "../notification.ts";
import { fields } from "../record-check.ts";
import type { RecordEntries } from "../record-entry.ts";
import { withGrant } from "../requests/grants.ts";
import { count, time } from "../shapes.ts";
import { withAccepted } from "./accepted.ts";
import { foldTurnDiffed, withBefore } from "./changes.ts";
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
import {
  BLOBS,
  CARRY,
  CONTEXT_ENTRY,
  compacting,
  FILES_BEFORE,
  KEPT,
  outcome,
  TEXT_PART,
  TOOL_CALL,
  WORKING_TREE,
} from "./shapes.ts";
import { turnCompleted, turnStarted } from "./views.ts";

export const TURN_RECORDS: RecordEntries<TurnRecord> = {
  turnStarted: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      at: time(),
      input: array(UserInput),
      outputSchema: unknown(),
      kind: omittable(enumeration("", ["compact", "review", "shell"])),
    })),
    fold: foldTurnStarted,
    notify: (threadId, { turnId, at }) => [
      toSubscribers("turn/started", { threadId, turn: turnStarted(turnId, at) }),
    ],
    durability: "written",
    inFork: "withTurn",
  },
  inputAccepted: {
    version: 1,
    check: fields(() => ({ turnId: string(), messageId: string() })),
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
    check: fields(() => ({
      turnId: string(),
      at: time(),
      entries: array(CONTEXT_ENTRY),
      kept: array(string()),
    })),
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
    check: fields(() => ({ turnId: string(), attempt: count() })),
    fold: foldSampleRequested,
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  retrying: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      at: time(),
      until: time(),
      retry: count(),
      of: count(),
      error: TurnError,
    })),
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
    check: fields(() => ({ turnId: string(), at: time(), item: ThreadItem })),
    fold: foldItemStarted,
    notify: (threadId, { turnId, item, at }) => [
      toSubscribers("item/started", { threadId, turnId, item, startedAtMs: at }),
    ],
    durability: "written",
    inFork: "withTurn",
  },
  textSaved: {
    version: 1,
    check: fields(() => ({ turnId: string(), itemId: string(), part: omittable(TEXT_PART), text: string() })),
    fold: foldTextSaved,
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  itemCompleted: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      at: time(),
      item: ThreadItem,
      carry: omittable(CARRY),
      said: omittable(string()),
      cut: omittable(enumeration("", ["fault", "interrupt", "input"])),
      blobs: omittable(BLOBS),
    })),
    fold: foldItemCompleted,
    notify: (threadId, { turnId, item, at }) => [
      toSubscribers("item/completed", { threadId, turnId, item, completedAtMs: at }),
    ],
    durability: "written",
    inFork: "withTurn",
  },
  toolCalled: {
    version: 1,
    check: fields(() => ({ turnId: string(), at: time(), call: TOOL_CALL })),
    fold: foldToolCalled,
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  toolDispatched: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      at: time(),
      callId: string(),
      again: boolean(),
      via: omittable(string()),
      until: omittable(time()),
      plan: omittable(unknown()),
      before: omittable(FILES_BEFORE),
    })),
    fold: (state, record) => {
      const { again, via, at, until, plan, before } = record;
      const dispatched = withStage(state, record, { kind: "dispatched", again, via, at, until, plan });
      return before === undefined
        ? dispatched
        : withTurn(dispatched, record.turnId, (turn) => withBefore(turn, before));
    },
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  toolWaiting: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      at: time(),
      callId: string(),
      until: nullable(time()),
      unacknowledged: omittable(boolean()),
    })),
    fold: foldToolWaiting,
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  toolAnswered: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      at: time(),
      callId: string(),
      output: FunctionCallOutputBody,
      success: boolean(),
      blobs: omittable(BLOBS),
    })),
    fold: foldToolAnswered,
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  callCancelled: {
    version: 1,
    check: fields(() => ({ turnId: string(), at: time(), callId: string() })),
    fold: (state, record) => withStage(state, record, { kind: "settled" }),
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  approvalGranted: {
    version: 1,
    check: fields(() => ({ turnId: string(), key: string(), grantedAt: omittable(time()) })),
    fold: (state, { key, grantedAt }) => withGrant(state, key, grantedAt),
    notify: silent,
    durability: "written",
    // A fork asks its own users.
    inFork: "never",
  },
  planUpdated: {
    version: 1,
    check: fields(() => ({ turnId: string(), explanation: nullable(string()), plan: array(TurnPlanStep) })),
    fold: (state) => state,
    notify: (threadId, { turnId, explanation, plan }) => [
      toSubscribers("turn/plan/updated", { threadId, turnId, explanation, plan: [...plan] }),
    ],
    durability: "written",
    inFork: "withTurn",
  },
  turnDiffed: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      at: time(),
      upTo: count(),
      diff: nullable(string()),
      digest: string(),
      trees: array(WORKING_TREE),
    })),
    fold: foldTurnDiffed,
    notify: (threadId, { turnId, diff }) =>
      diff === null ? [] : [toSubscribers("turn/diff/updated", { threadId, turnId, diff })],
    durability: "written",
    // What it is made from is not copied.
    inFork: "never",
  },
  compactionRequested: {
    version: 1,
    check: fields(() => ({ turnId: string(), at: time(), attempt: count(), ...compacting() })),
    fold: foldCompactionRequested,
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  compacted: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      at: time(),
      attempt: count(),
      summary: string(),
      kept: array(KEPT),
      spent: TokenUsageBreakdown,
      usage: ThreadTokenUsage,
    })),
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
    check: fields(() => ({ turnId: string(), at: time(), error: TurnError })),
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
    check: fields(() => ({ turnId: string(), at: time(), from: string(), to: string() })),
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
    check: fields(() => ({ turnId: string(), attempt: count() })),
    fold: (state, { turnId }) => withTurn(state, turnId, () => ({ sampled: true })),
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  usageReported: {
    version: 1,
    check: fields(() => ({ turnId: string(), usage: ThreadTokenUsage })),
    fold: foldUsageReported,
    notify: (threadId, { turnId, usage }) => [
      toSubscribers("thread/tokenUsage/updated", { threadId, turnId, tokenUsage: usage }),
    ],
    durability: "written",
    inFork: "withTurn",
  },
  turnEnded: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      startedAt: time(),
      at: time(),
      ...outcome(),
      answer: nullable(ThreadItem),
    })),
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
