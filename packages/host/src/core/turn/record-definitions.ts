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
import { BLOBS } from "../blobs-schema.ts";
import { AWAITED } from "../children/record-field-schemas.ts";
import { silent, toSubscribers } from "../notification.ts";
import { count, time } from "../number-schemas.ts";
import { withCancel } from "../rap/fold.ts";
import { fields } from "../record-check.ts";
import type { RecordTable } from "../record-table.ts";
import { withGrant } from "../requests/grants.ts";
import { withAccepted } from "./accepted-inputs.ts";
import { contextAfter } from "./additional-context.ts";
import { withMoreContext } from "./context-size.ts";
import { foldTurnDiffed, withBefore } from "./file-changes.ts";
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
  foldTurnSettingsChanged,
  foldTurnStarted,
  foldUsageReported,
  withStage,
  withTurn,
} from "./fold.ts";
import { afterAnswer, delayed } from "./phase.ts";
import {
  CARRY,
  CONTEXT_ENTRY,
  compacting,
  FILES_BEFORE,
  outcome,
  RETAINED,
  TEXT_PART,
  TOOL_CALL,
  WORKING_TREE,
} from "./record-field-schemas.ts";
import type { TurnRecord } from "./records.ts";
import { TURN_SETTINGS } from "./turn-settings.ts";
import { turnCompleted, turnStarted } from "./turn-view.ts";

export const TURN_RECORDS: RecordTable<TurnRecord> = {
  turnStarted: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      at: time(),
      input: array(UserInput),
      outputSchema: unknown(),
      kind: omittable(enumeration("", ["compact", "review", "shell"])),
      entered: omittable(ThreadItem),
      rootTurnId: omittable(string()),
    })),
    fold: foldTurnStarted,
    notify: (threadId, { turnId, at, entered: item, rootTurnId }) => [
      ...(item === undefined
        ? []
        : [
            toSubscribers("item/started", {
              threadId,
              turnId,
              item: { ...item, completedAtMs: null },
              startedAtMs: at,
            }),
            toSubscribers("item/completed", { threadId, turnId, item, completedAtMs: at }),
          ]),
      toSubscribers("turn/started", { threadId, turn: turnStarted(turnId, at, rootTurnId) }),
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
    // Input IDs belong to the original thread, whose clients may repeat an input.
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
      const addedText = record.entries.map(({ value }) => value).join("");
      return withMoreContext({ ...state, context: contextAfter(state.context, record) }, addedText);
    },
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  turnSettingsChanged: {
    version: 1,
    check: fields(() => ({ turnId: string(), at: time(), changes: TURN_SETTINGS })),
    fold: foldTurnSettingsChanged,
    notify: silent,
    durability: "written",
    inFork: "never",
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
      withTurn(state, turnId, ({ phase }) => ({ retries: retry, phase: delayed(phase, until) })),
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
    // An answer that the user cut off, by an interrupt or by more input, stays in the history. As in the Codex CLI,
    // clients get no `item/completed` for it.
    notify: (threadId, { turnId, item, at, cut }) =>
      cut === "interrupt" || cut === "input"
        ? []
        : [toSubscribers("item/completed", { threadId, turnId, item, completedAtMs: at })],
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
      awaits: omittable(AWAITED),
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
    fold: (state, record) => {
      const settled = withStage(state, record, { kind: "settled" });
      return { ...settled, rap: withCancel(settled.rap, record.callId) };
    },
    notify: silent,
    durability: "written",
    // The original thread notifies the tool server.
    inFork: "never",
  },
  approvalGranted: {
    version: 1,
    check: fields(() => ({ turnId: string(), key: string(), grantedAt: omittable(time()) })),
    fold: (state, { key, grantedAt }) => withGrant(state, key, grantedAt),
    notify: silent,
    durability: "written",
    // A fork starts without grants.
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
    // A fork does not copy the saved files that the diff compares with.
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
      kept: array(RETAINED),
      spent: TokenUsageBreakdown,
      usage: ThreadTokenUsage,
    })),
    fold: foldCompacted,
    notify: (threadId, { turnId, usage }) => [
      toSubscribers("thread/tokenUsage/updated", { threadId, turnId, tokenUsage: usage }),
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
      // The protocol defines no other reason.
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
    fold: (state, { turnId }) => withTurn(state, turnId, ({ phase }) => ({ phase: afterAnswer(phase) })),
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
      rootTurnId: omittable(string()),
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
