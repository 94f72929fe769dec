import type { UserInput } from "@bobbin/protocol";
import { goalAfterCall, goalAfterTurn, goalAtSample, goalAtTurn } from "../goal/fold.ts";
import { queueAfterTurn } from "../queue/fold.ts";
import { outlivesTurn } from "../requests/outlives-turn.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { withSavedOutput } from "../terminals/fold.ts";
import { outputTail } from "../terminals/output-tail.ts";
import { findCall } from "./call-list.ts";
import { type CallStage, KEPT_CALL_IDS } from "./call-stages.ts";
import { withContextTokens, withMoreContext, withUserMessage } from "./context-size.ts";
import { afterCall, afterItem, undiffedAfter, withoutUndiffed } from "./file-changes.ts";
import { isCompaction } from "./item-kinds.ts";
import { isTextOf, textKey } from "./item-texts.ts";
import { afterAnswer, ENDING, runningCalls, SAMPLING, withCall, withCallStage } from "./phase.ts";
import type { TurnRecord } from "./records.ts";

type Of<T extends TurnRecord["type"]> = Extract<TurnRecord, { type: T }>;

const PREVIEW_CHARACTERS = 240;

/** The state of a new turn. */
export function newTurn({
  turnId,
  at,
  outputSchema,
  kind,
  rootTurnId,
}: Pick<Of<"turnStarted">, "turnId" | "at" | "outputSchema" | "kind" | "rootTurnId">): TurnState {
  return {
    id: turnId,
    startedAt: at,
    outputSchema,
    // A turn that was started for shell commands becomes a regular one with its first input.
    kind: kind === undefined || kind === "shell" ? "regular" : kind,
    attempt: 0,
    phase: kind === "shell" ? { kind: "shell" } : SAMPLING,
    pendingInput: false,
    retries: 0,
    answers: 0,
    compacted: "no",
    plans: 0,
    injected: false,
    lostHosts: 0,
    servedBy: null,
    answer: null,
    open: [],
    saved: {},
    ...(rootTurnId !== undefined && { rootTurnId }),
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

/** Copies the turn's settings at the start of a model call. They apply to that call and its tool calls. */
function captured({ settings }: TurnState): Pick<TurnState, "stepSettings"> {
  return settings === undefined ? {} : { stepSettings: settings };
}

export function foldTurnSettingsChanged(
  state: ThreadState,
  { turnId, changes }: Of<"turnSettingsChanged">,
): ThreadState {
  return withTurn(state, turnId, ({ settings }) => ({ settings: { ...settings, ...changes } }));
}

export function foldSampleRequested(state: ThreadState, record: Of<"sampleRequested">): ThreadState {
  const requested = withTurn(state, record.turnId, (turn) => ({
    ...captured(turn),
    attempt: record.attempt,
    phase: SAMPLING,
    pendingInput: false,
    injected: false,
  }));
  return goalAtSample(requested);
}

export function foldCompactionRequested(state: ThreadState, record: Of<"compactionRequested">): ThreadState {
  const { attempt, covers, lighter, because } = record;
  return withTurn(state, record.turnId, (turn) => ({
    ...captured(turn),
    attempt,
    phase: { kind: "compacting", due: null, how: { covers, lighter, because } },
  }));
}

export function foldCompacted(state: ThreadState, { turnId, usage }: Of<"compacted">): ThreadState {
  const compacted: ThreadState = {
    ...withTurn(state, turnId, () => ({ phase: ENDING, compacted: "done", retries: 0, lostHosts: 0 })),
    usage,
    // A compaction keeps additional context only of the running turn.
    context: [],
    ...(state.startHooks !== undefined && { startHooks: { epoch: 0 } }),
  };
  return withContextTokens(compacted, usage.last.totalTokens);
}

export function foldCompactionFailed(state: ThreadState, { turnId }: Of<"compactionFailed">): ThreadState {
  return withTurn(state, turnId, ({ open }) => ({
    phase: ENDING,
    compacted: "failed",
    retries: 0,
    open: open.filter((item) => !isCompaction(item)),
  }));
}

export function foldItemStarted(state: ThreadState, { turnId, item }: Of<"itemStarted">): ThreadState {
  return withTurn(state, turnId, ({ open, phase, plans, pendingInput }) => ({
    open: [...open, item],
    pendingInput: pendingInput || item.type === "userMessage",
    plans: item.type === "plan" ? plans + 1 : plans,
    phase: phase.kind === "sampling" && item.type !== "userMessage" ? { ...phase, shown: true } : phase,
  }));
}

export function foldTextSaved(state: ThreadState, record: Of<"textSaved">): ThreadState {
  const key = textKey(record.itemId, record.part);
  const terminals = withSavedOutput(state, record.itemId, record.text);
  if (terminals !== undefined) return terminals;
  return withTurn(state, record.turnId, ({ saved, open }) => {
    const before = saved[key] ?? "";
    const isOutput = open.some(({ id, type }) => id === record.itemId && type === "commandExecution");
    return { saved: { ...saved, [key]: isOutput ? outputTail(before, record.text) : before + record.text } };
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
    ...withTurn(state, turnId, ({ phase }) => ({ phase: withCall(phase, call) })),
    callIds: [...state.callIds.slice(1 - KEPT_CALL_IDS), call.callId],
    callCount: state.callCount + 1,
  };
  return goalAfterCall(called);
}

export function foldToolWaiting(state: ThreadState, record: Of<"toolWaiting">): ThreadState {
  const { until, unacknowledged, awaits } = record;
  const via = viaOf(state, record.callId);
  return withStage(state, record, {
    kind: "waiting",
    until,
    via,
    ...(unacknowledged && { unacknowledged }),
    ...(awaits !== undefined && { awaits }),
  });
}

export function foldToolAnswered(state: ThreadState, record: Of<"toolAnswered">): ThreadState {
  const settled = withTurn(state, record.turnId, (turn) => ({
    ...afterCall(turn, record.callId),
    phase: withCallStage(turn.phase, record.callId, { kind: "settled" }),
  }));
  return withMoreContext(settled, record.output);
}

export function foldUsageReported(state: ThreadState, { turnId, usage }: Of<"usageReported">): ThreadState {
  const reported: ThreadState = {
    ...withTurn(state, turnId, ({ answers, compacted, phase }) => ({
      phase: afterAnswer(phase),
      retries: 0,
      lostHosts: 0,
      answers: answers + 1,
      compacted: compacted === "failed" ? compacted : "no",
    })),
    usage,
  };
  // A code review does not include the conversation, so its token usage says nothing about the conversation's size.
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

function viaOf(state: ThreadState, callId: string): string | undefined {
  const stage = findCall(runningCalls(state), callId)?.stage;
  return stage?.kind === "dispatched" ? stage.via : undefined;
}

/** The state with a call of the running turn in another stage. */
export function withStage(
  state: ThreadState,
  { turnId, callId }: { readonly turnId: string; readonly callId: string },
  stage: CallStage,
): ThreadState {
  return withTurn(state, turnId, ({ phase }) => ({ phase: withCallStage(phase, callId, stage) }));
}

/** Changes the turn `turnId` if it is the running one; otherwise returns the state unchanged. */
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
