import type { ThreadItem, ThreadTokenUsage, TokenUsageBreakdown, TurnError } from "@bobbin/protocol";
import { type Fault, fault } from "../../errors.ts";
import type { SampleOutcome, TurnCommand } from "../commands.ts";
import type { ShownText } from "../decide.ts";
import { settingsChanged } from "../life/settings.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { acceptedTurn, inputAccepted } from "./accepted.ts";
import { isSettled, uniqueCallId } from "./calls.ts";
import { closeItems, endTurn, requestSample, turnEnded } from "./ending.ts";
import { stepCall } from "./step-call.ts";

/** Records for a command, none if it comes too late to matter, or why it is refused. */
export function decideTurn(
  state: ThreadState,
  command: TurnCommand,
  shown: ShownText,
): readonly ThreadRecord[] | Fault {
  const turn = state.turn;
  switch (command.kind) {
    case "startTurn":
      if (acceptedTurn(state, command.clientUserMessageId) !== undefined) return [];
      // Clients of this protocol start turns without asking whether one runs: then it is more input for that one.
      return turn === null ? startTurn(state, command) : addInput(state, turn, command, shown);
    case "steer":
      if (acceptedTurn(state, command.clientUserMessageId) !== undefined) return [];
      if (turn === null) return fault("noActiveTurnToSteer");
      if (command.expectedTurnId !== turn.id) return fault("steerMismatch", command.expectedTurnId, turn.id);
      if (command.input.length === 0) return fault("inputEmpty");
      return addInput(state, turn, command, shown);
    case "interrupt":
      return interrupt(state, command, shown);
    case "itemStarted":
    case "itemCompleted": {
      if (turn?.id !== command.turnId || turn.attempt !== command.attempt) return [];
      const { kind: type, attempt: _, ...said } = command;
      return [{ type, ...said } as ThreadRecord];
    }
    case "toolCalled": {
      if (turn?.id !== command.turnId || turn.attempt !== command.attempt) return [];
      const { at, turnId, call } = command;
      const callId = uniqueCallId(call.callId, state.callIds);
      return [{ type: "toolCalled", at, turnId, call: { ...call, callId } }];
    }
    case "stepCall":
      return turn?.id === command.turnId ? stepCall(state, turn, command, shown) : [];
    case "answer": {
      const { at, requestId, answer } = command;
      if (!state.requests.some(({ id }) => id === requestId)) return [];
      return [{ type: "requestResolved", at, requestId, answer }];
    }
    case "saveText": {
      const { kind: _, ...saved } = command;
      const running = turn?.id === saved.turnId && turn.open.some((item) => item.id === saved.itemId);
      return running ? [{ type: "textSaved", ...saved }] : [];
    }
    case "sampled":
      if (turn?.id !== command.turnId || turn.attempt !== command.attempt) return [];
      return sampled(state, turn, command, shown);
  }
}

type StartTurn = Extract<TurnCommand, { kind: "startTurn" }>;
type Steer = Extract<TurnCommand, { kind: "steer" }>;

export function startTurn(state: ThreadState, command: StartTurn): readonly ThreadRecord[] {
  const { at, turnId, input, outputSchema, changes } = command;
  return [
    ...settingsChanged(state, at, changes),
    { type: "turnStarted", turnId, at, input, outputSchema },
    ...userMessage(turnId, command),
    { type: "sampleRequested", turnId, attempt: 1 },
  ];
}

/**
 * What the model was saying ends where it is, and the model is called again with the new input. While tools are at
 * work for it, the input waits for them: what they answer has to come first.
 */
function addInput(
  state: ThreadState,
  turn: TurnState,
  command: StartTurn | Steer,
  shown: ShownText,
): readonly ThreadRecord[] {
  const busy = !turn.calls.every(isSettled);
  return [
    ...(command.kind === "startTurn" ? settingsChanged(state, command.at, command.changes) : []),
    ...(busy ? [] : closeItems(turn, command.at, shown, "input")),
    ...userMessage(turn.id, command),
    ...(busy ? [] : [requestSample(turn)]),
  ];
}

function userMessage(turnId: string, command: StartTurn | Steer): readonly ThreadRecord[] {
  const { at, input, clientUserMessageId: clientId } = command;
  const accepted = inputAccepted(turnId, clientId);
  if (input.length === 0) return accepted;
  const item: ThreadItem = {
    type: "userMessage",
    id: command.userItemId,
    clientId,
    content: [...input],
    startedAtMs: at,
    completedAtMs: null,
  };
  return [
    ...accepted,
    { type: "itemStarted", turnId, at, item },
    { type: "itemCompleted", turnId, at, item: { ...item, completedAtMs: at } },
  ];
}

function interrupt(
  state: ThreadState,
  { at, turnId }: { readonly at: number; readonly turnId: string | null },
  shown: ShownText,
): readonly ThreadRecord[] | Fault {
  const { turn, lastTurn } = state;
  if (turn === null) {
    // The same interrupt again, or one that nothing is left to do for.
    if (turnId === null || (turnId === lastTurn?.id && lastTurn.status === "interrupted")) return [];
    return fault("noActiveTurnToInterrupt");
  }
  if (turnId !== null && turnId !== turn.id) return fault("turnIdMismatch", turnId, turn.id);
  return endTurn(state, at, "interrupted", shown);
}

function sampled(
  state: ThreadState,
  turn: TurnState,
  { at, outcome }: { readonly at: number; readonly outcome: SampleOutcome },
  shown: ShownText,
): readonly ThreadRecord[] {
  if (outcome.kind === "failed") {
    const { error, retry } = outcome;
    if (retry === undefined || turn.retries >= retry.of) return endTurn(state, at, "failed", shown, error);
    const closed = closeItems(turn, at, shown, "fault");
    if (!turn.calls.every(isSettled)) {
      return [...closed, { type: "sampleLost", turnId: turn.id, attempt: turn.attempt }];
    }
    return [
      ...closed,
      requestSample(turn),
      {
        type: "retrying",
        turnId: turn.id,
        at,
        until: at + retry.afterMs,
        retry: turn.retries + 1,
        of: retry.of,
        error: reconnecting(error, turn.retries + 1, retry.of),
      },
    ];
  }
  const usage: ThreadTokenUsage = {
    total: addUsage(state.usage?.total, outcome.usage),
    last: outcome.usage,
    modelContextWindow: outcome.contextWindow,
  };
  return [
    ...closeItems(turn, at, shown),
    { type: "usageReported", turnId: turn.id, usage },
    ...afterSample(turn, at),
  ];
}

/** A model that called tools is called again with their answers, once all are there. */
function afterSample(turn: TurnState, at: number): readonly ThreadRecord[] {
  if (turn.calls.length === 0) return [turnEnded(turn, at, "completed", null)];
  return turn.calls.every(isSettled) ? [requestSample(turn)] : [];
}

/** As clients know it: the count is what they show, the reason stands in the details. */
function reconnecting(error: TurnError, retry: number, of: number): TurnError {
  const { codexErrorInfo: info } = error;
  const status = typeof info === "object" && info !== null ? Object.values(info)[0]?.httpStatusCode : null;
  return {
    message: `Reconnecting... ${retry}/${of}`,
    codexErrorInfo: { responseStreamDisconnected: { httpStatusCode: status ?? null } },
    additionalDetails: error.message,
    misalignment: null,
  };
}

function addUsage(total: TokenUsageBreakdown | undefined, more: TokenUsageBreakdown): TokenUsageBreakdown {
  if (total === undefined) return more;
  return {
    totalTokens: total.totalTokens + more.totalTokens,
    inputTokens: total.inputTokens + more.inputTokens,
    cachedInputTokens: total.cachedInputTokens + more.cachedInputTokens,
    cacheWriteInputTokens: total.cacheWriteInputTokens + more.cacheWriteInputTokens,
    outputTokens: total.outputTokens + more.outputTokens,
    reasoningOutputTokens: total.reasoningOutputTokens + more.reasoningOutputTokens,
  };
}
