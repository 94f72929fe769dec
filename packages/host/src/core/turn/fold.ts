import type { UserInput } from "@bobbin/protocol";
import { goalAfterCall, goalAfterTurn, goalAtSample, goalAtTurn } from "../goal/fold.ts";
import { queueAfterTurn } from "../queue/fold.ts";
import { outlivesTurn } from "../requests/resolve.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { withSavedOutput } from "../terminals/fold.ts";
import { savedOutput } from "../terminals/saved-output.ts";
import { addCall, findCall, stageCall } from "./call-list.ts";
import { type CallStage, KEPT_CALL_IDS } from "./calls.ts";
import { afterCall, afterItem, undiffedAfter, withoutUndiffed } from "./changes.ts";
import { withContextTokens, withMoreContext, withUserMessage } from "./context-size.ts";
import { isCompaction } from "./own-items.ts";
import type { TurnRecord } from "./records.ts";
import { isTextOf, textKey } from "./texts.ts";

type Of<T extends TurnRecord["type"]> = Extract<TurnRecord, { type: T }>;

const PREVIEW_CHARACTERS = 240;

/** What every turn starts with. */
export function newTurn({
  turnId,
  at,
  outputSchema,
  kind,
}: Pick<Of<"turnStarted">, "turnId" | "at" | "outputSchema" | "kind">): TurnState {
  return {
    id: turnId,
    startedAt: at,
    outputSchema,
    // Once the user has run a command, it goes on as any other turn does if there is more input.
    kind: kind === undefined || kind === "shell" ? "regular" : kind,
    attempt: 0,
    unheard: false,
    sampled: kind === "shell",
    retries: 0,
    retryAt: null,
    answers: 0,
    compacting: null,
    compacted: "no",
    plans: 0,
    calls: [],
    shown: false,
    injected: false,
    lostHosts: 0,
    servedBy: null,
    answer: null,
    open: [],
    saved: {},
  };
}

export function foldTurnStarted(state: ThreadState, record: Of<"turnStarted">): ThreadState {
  const started: ThreadState = {
    ...withoutUndiffed(state),
    updatedAt: Math.max(state.createdAt, record.at),
    preview: state.preview || previewOf(record.input),
    hasUserMessage: state.hasUserMessage || record.input.length > 0,
    turn: { ...newTurn(record), callsBefore: state.callCount },
  };
  return goalAtTurn(started, record);
}

export function foldSampleRequested(state: ThreadState, record: Of<"sampleRequested">): ThreadState {
  const requested = withTurn(state, record.turnId, () => ({
    attempt: record.attempt,
    unheard: false,
    sampled: false,
    retryAt: null,
    shown: false,
    injected: false,
    compacting: null,
    calls: [],
  }));
  return goalAtSample(requested);
}

export function foldCompactionRequested(state: ThreadState, record: Of<"compactionRequested">): ThreadState {
  const { attempt, covers, lighter, because } = record;
  return withTurn(state, record.turnId, () => ({
    attempt,
    sampled: false,
    retryAt: null,
    shown: false,
    compacting: { covers, lighter, because },
    calls: [],
  }));
}

export function foldCompacted(state: ThreadState, { turnId, usage }: Of<"compacted">): ThreadState {
  const compacted: ThreadState = {
    ...withTurn(state, turnId, () => ({ compacted: "done", retries: 0, lostHosts: 0 })),
    usage,
    // Only what came with the running turn is left of it.
    context: [],
  };
  return withContextTokens(compacted, usage.last.totalTokens);
}

export function foldCompactionFailed(state: ThreadState, { turnId }: Of<"compactionFailed">): ThreadState {
  return withTurn(state, turnId, ({ open }) => ({
    compacted: "failed",
    retries: 0,
    open: open.filter((item) => !isCompaction(item)),
  }));
}

export function foldItemStarted(state: ThreadState, { turnId, item }: Of<"itemStarted">): ThreadState {
  return withTurn(state, turnId, ({ open, shown, plans, unheard }) => ({
    open: [...open, item],
    unheard: unheard || item.type === "userMessage",
    plans: item.type === "plan" ? plans + 1 : plans,
    shown: shown || item.type !== "userMessage",
  }));
}

export function foldTextSaved(state: ThreadState, record: Of<"textSaved">): ThreadState {
  const key = textKey(record.itemId, record.part);
  const terminals = withSavedOutput(state, record.itemId, record.text);
  if (terminals !== undefined) return terminals;
  return withTurn(state, record.turnId, ({ saved, open }) => {
    const before = saved[key] ?? "";
    const isOutput = open.some(({ id, type }) => id === record.itemId && type === "commandExecution");
    return { saved: { ...saved, [key]: isOutput ? savedOutput(before, record.text) : before + record.text } };
  });
}

export function foldItemCompleted(state: ThreadState, { turnId, item }: Of<"itemCompleted">): ThreadState {
  const completed = withTurn(state, turnId, (turn) => {
    const open = turn.open.filter(({ id }) => id !== item.id);
    const saved = Object.fromEntries(Object.entries(turn.saved).filter(([key]) => !isTextOf(key, item.id)));
    const completed = { open, saved, ...afterItem(turn, item) };
    return item.type === "agentMessage" ? { ...completed, answer: item } : completed;
  });
  return item.type === "userMessage" ? withUserMessage(completed, item.content) : completed;
}

export function foldToolCalled(state: ThreadState, { turnId, call }: Of<"toolCalled">): ThreadState {
  const called: ThreadState = {
    ...withTurn(state, turnId, ({ calls }) => ({
      calls: addCall(calls, call),
    })),
    callIds: [...state.callIds.slice(1 - KEPT_CALL_IDS), call.callId],
    callCount: state.callCount + 1,
  };
  return goalAfterCall(called);
}

export function foldToolWaiting(state: ThreadState, record: Of<"toolWaiting">): ThreadState {
  const { until, unacknowledged } = record;
  const via = viaOf(state, record.callId);
  return withStage(state, record, { kind: "waiting", until, via, ...(unacknowledged && { unacknowledged }) });
}

export function foldToolAnswered(state: ThreadState, record: Of<"toolAnswered">): ThreadState {
  const settled = withTurn(state, record.turnId, (turn) => ({
    ...afterCall(turn, record.callId),
    calls: stageCall(turn.calls, record.callId, { kind: "settled" }),
  }));
  return withMoreContext(settled, record.output);
}

export function foldUsageReported(state: ThreadState, { turnId, usage }: Of<"usageReported">): ThreadState {
  const reported: ThreadState = {
    ...withTurn(state, turnId, ({ answers, compacted }) => ({
      sampled: true,
      retries: 0,
      lostHosts: 0,
      answers: answers + 1,
      compacted: compacted === "failed" ? compacted : "no",
    })),
    usage,
  };
  // A reviewer is not shown the conversation.
  return state.turn?.kind === "review" ? reported : withContextTokens(reported, usage.last.totalTokens);
}

export function foldTurnEnded(state: ThreadState, record: Of<"turnEnded">): ThreadState {
  const ended: ThreadState = {
    ...state,
    updatedAt: Math.max(state.createdAt, record.at),
    turn: null,
    ...undiffedAfter(state.turn),
    requests: state.requests.filter((request) => outlivesTurn(state, request)),
    lastTurn: { id: record.turnId, status: record.status },
    queue: queueAfterTurn(state.queue, record.status),
  };
  return goalAfterTurn(ended, record);
}

function viaOf({ turn }: ThreadState, callId: string): string | undefined {
  const stage = turn === null ? undefined : findCall(turn.calls, callId)?.stage;
  return stage?.kind === "dispatched" ? stage.via : undefined;
}

/** The state with one call of the running turn further on. */
export function withStage(
  state: ThreadState,
  { turnId, callId }: { readonly turnId: string; readonly callId: string },
  stage: CallStage,
): ThreadState {
  return withTurn(state, turnId, ({ calls }) => ({
    calls: stageCall(calls, callId, stage),
  }));
}

/** The state with the running turn changed, if it is this one. */
export function withTurn(
  state: ThreadState,
  turnId: string,
  change: (turn: TurnState) => Partial<TurnState>,
): ThreadState {
  if (state.turn?.id !== turnId) return state;
  return { ...state, turn: { ...state.turn, ...change(state.turn) } };
}

function previewOf(input: readonly UserInput[]): string {
  const text = input
    .map((part) => (part.type === "text" ? part.text : ""))
    .filter((part) => part !== "")
    .join(" ");
  return text.length > PREVIEW_CHARACTERS ? `${text.slice(0, PREVIEW_CHARACTERS)}…` : text;
}
