import type { ThreadItem, ThreadTokenUsage } from "@bobbin/protocol";
import { type Fault, fault, notSteerableFault } from "../../errors.ts";
import { hasNews } from "../children/helper-end-notes.ts";
import type { ShownText } from "../decide.ts";
import type { LastHooks } from "../hooks/records.ts";
import { settingsChanged } from "../life/settings-change-record.ts";
import { defer, isDeferrable } from "../rap/deferred-calls.ts";
import type { ThreadRecord } from "../records.ts";
import { networkDecision } from "../requests/network-questions.ts";
import { clearNetwork, resolve } from "../requests/resolve-request.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { leaveShells } from "../terminals/decide.ts";
import { acceptedTurn, inputAccepted } from "./accepted-inputs.ts";
import { contextGiven } from "./additional-context.ts";
import { allSettled } from "./call-list.ts";
import { uniqueCallId } from "./call-stages.ts";
import { stepCall } from "./call-steps.ts";
import { reviewed, startReview } from "./code-review.ts";
import type { TurnCommand } from "./commands.ts";
import { beginCompaction, coverage, mayCompact, startCompaction, summarised } from "./compaction.ts";
import { closeItems, endTurn, requestSample, retrying, turnEnded } from "./end-turn.ts";
import { changesOf } from "./file-changes.ts";
import { callsOf } from "./phase.ts";
import { stepState } from "./turn-settings.ts";
import { addUsage } from "./usage.ts";

/** Decides commands about turns. Commands that come too late have no effect. */
export function decideTurn(
  state: ThreadState,
  command: TurnCommand,
  shown: ShownText,
): readonly ThreadRecord[] | Fault {
  const turn = state.turn;
  switch (command.kind) {
    case "startTurn":
      if (acceptedTurn(state, command.clientUserMessageId ?? command.inputId ?? null) !== undefined)
        return [];
      // While a turn runs, turn/start adds input to it, as in the Codex CLI.
      if (turn === null) return startTurn(state, command);
      return notSteerable(turn) ?? addInput(state, turn, command, shown);
    case "steer":
      if (acceptedTurn(state, command.clientUserMessageId) !== undefined) return [];
      if (turn === null) return fault("noActiveTurnToSteer");
      if (command.expectedTurnId !== turn.id) return fault("steerMismatch", command.expectedTurnId, turn.id);
      if (command.input.length === 0) return fault("inputEmpty");
      return notSteerable(turn) ?? addInput(state, turn, command, shown);
    case "changeTurnSettings": {
      const { at, turnId, changes } = command;
      if (turn?.id !== turnId || Object.keys(changes).length === 0) return [];
      return [{ type: "turnSettingsChanged", turnId, at, changes }];
    }
    case "failTurn":
      if (turn?.id !== command.turnId) return [];
      return endTurn(state, command.at, "failed", shown, command.error);
    case "interrupt":
      return interrupt(state, command, shown);
    case "itemStarted":
    case "itemCompleted": {
      if (turn?.id !== command.turnId || turn.attempt !== command.attempt) return [];
      const { kind: type, attempt: _, ...fields } = command;
      return [{ type, ...fields } as ThreadRecord];
    }
    case "toolCalled": {
      if (turn?.id !== command.turnId || turn.attempt !== command.attempt) return [];
      if (turn.phase.kind !== "sampling") return [];
      const { at, turnId, call } = command;
      const callId = uniqueCallId(call.callId, state);
      return [{ type: "toolCalled", at, turnId, call: { ...call, callId } }];
    }
    case "stepCall":
      return turn?.id === command.turnId ? stepCall(state, turn, command, shown) : [];
    case "answer": {
      const { at, requestId, answer } = command;
      const request = state.requests.find(({ id }) => id === requestId);
      if (request === undefined) return [];
      const { aside } = request;
      if (aside?.kind !== "network" || networkDecision(aside, answer) !== "cancel")
        return resolve(request, at, answer);
      const rest = { ...state, requests: state.requests.filter((one) => one !== request) };
      return [...resolve(request, at, answer), ...endTurn(rest, at, "interrupted", shown)];
    }
    case "modelServed":
      if (turn?.id !== command.turnId || turn.attempt !== command.attempt) return [];
      return rerouted(state, turn, command);
    case "saveText": {
      const { kind: _, ...saved } = command;
      const running =
        (turn?.id === saved.turnId && turn.open.some((item) => item.id === saved.itemId)) ||
        state.terminals.some(({ item }) => item.id === saved.itemId);
      return running ? [{ type: "textSaved", ...saved }] : [];
    }
    case "showDiff": {
      const { kind: _, ...shown } = command;
      return changesOf(state, command.turnId) === undefined ? [] : [{ type: "turnDiffed", ...shown }];
    }
    case "startReview":
      return startReview(state, command, shown);
    case "compact":
      return startCompaction(state, command, shown);
    case "compactFirst": {
      const { at, turnId, attempt } = command;
      if (turn?.id !== turnId || turn.attempt !== attempt || !mayCompact(turn)) return [];
      return beginCompaction(turn, at, { covers: coverage(turn), lighter: 0, because: null });
    }
    case "summarised": {
      if (turn?.id !== command.turnId || turn.attempt !== command.attempt) return [];
      const { phase } = turn;
      return phase.kind === "compacting" ? summarised(state, turn, phase.how, command, shown) : [];
    }
    case "sampled":
      if (turn?.id !== command.turnId || turn.attempt !== command.attempt) return [];
      if (turn.phase.kind !== "sampling") return [];
      return sampled(state, turn, command, shown);
  }
}

function notSteerable({ kind }: TurnState): Fault | undefined {
  return kind === "regular" ? undefined : notSteerableFault(kind);
}

type StartTurn = Extract<TurnCommand, { kind: "startTurn" }>;
type Steer = Extract<TurnCommand, { kind: "steer" }>;

export function startTurn(state: ThreadState, command: StartTurn): readonly ThreadRecord[] {
  const { at, turnId, input, outputSchema, changes, rootTurnId } = command;
  const root = rootTurnId === undefined ? {} : { rootTurnId };
  return [
    ...settingsChanged(state, at, changes),
    { type: "turnStarted", turnId, at, input, outputSchema, ...root },
    ...contextGiven(state, turnId, at, command.context ?? []),
    ...userMessage(turnId, command),
    { type: "sampleRequested", turnId, attempt: 1 },
  ];
}

/**
 * Adds input to the running turn. Cuts off the model's answer, and calls the model again with the input. If local
 * tools or a compaction run, the input waits for their end. It does not wait for tool servers, which may take days.
 */
function addInput(
  state: ThreadState,
  turn: TurnState,
  command: StartTurn | Steer,
  shown: ShownText,
): readonly ThreadRecord[] {
  const speaks = command.input.length > 0;
  const deferred = speaks && isDeferrable(state, turn) ? defer(state, turn, command.at) : [];
  const busy = turn.phase.kind === "compacting" || (deferred.length === 0 && !allSettled(callsOf(turn)));
  return [
    ...deferred,
    ...(command.kind === "startTurn" ? settingsChanged(state, command.at, command.changes) : []),
    ...(busy ? [] : closeItems(turn, command.at, shown, "input")),
    ...contextGiven(state, turn.id, command.at, command.context ?? []),
    ...userMessage(turn.id, command),
    ...(busy ? [] : [requestSample(turn)]),
  ];
}

function userMessage(turnId: string, command: StartTurn | Steer): readonly ThreadRecord[] {
  const { at, input, clientUserMessageId: clientId, blobs } = command;
  const inputId = command.kind === "startTurn" ? command.inputId : undefined;
  const accepted = inputAccepted(turnId, clientId ?? inputId ?? null);
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
    { type: "itemCompleted", turnId, at, item: { ...item, completedAtMs: at }, ...(blobs && { blobs }) },
  ];
}

function interrupt(
  state: ThreadState,
  { at, turnId }: { readonly at: number; readonly turnId: string | null },
  shown: ShownText,
): readonly ThreadRecord[] | Fault {
  const { turn, lastTurn } = state;
  if (turn === null) {
    // The interrupt was repeated, or came after the turn's end.
    if (turnId === null || (turnId === lastTurn?.id && lastTurn.status === "interrupted")) return [];
    return fault("noActiveTurnToInterrupt");
  }
  if (turnId !== null && turnId !== turn.id) return fault("turnIdMismatch", turnId, turn.id);
  return endTurn(state, at, "interrupted", shown);
}

function sampled(
  state: ThreadState,
  turn: TurnState,
  { at, outcome, lastHooks }: Extract<TurnCommand, { kind: "sampled" }>,
  shown: ShownText,
): readonly ThreadRecord[] {
  const calls = callsOf(turn);
  if (outcome.kind === "failed") {
    const { error, retry } = outcome;
    const tooLong = error.codexErrorInfo === "contextWindowExceeded";
    if (tooLong && mayCompact(turn) && allSettled(calls)) {
      const how = { covers: coverage(turn), lighter: 0, because: error };
      return [...closeItems(turn, at, shown, "fault"), ...beginCompaction(turn, at, how)];
    }
    if (retry === undefined || turn.retries >= retry.of) return endTurn(state, at, "failed", shown, error);
    const closed = closeItems(turn, at, shown, "fault");
    if (!allSettled(calls)) {
      return [...closed, { type: "sampleLost", turnId: turn.id, attempt: turn.attempt }];
    }
    return [...closed, requestSample(turn), retrying(turn, at, error, retry)];
  }
  const usage: ThreadTokenUsage = {
    total: addUsage(state.usage?.total, outcome.usage),
    last: outcome.usage,
    modelContextWindow: outcome.contextWindow,
  };
  const { records: review, answer } =
    turn.kind === "review" && calls.length === 0
      ? reviewed(turn.id, at, outcome.review ?? "")
      : { records: [], answer: turn.answer };
  return [
    ...closeItems(turn, at, shown),
    ...review,
    { type: "usageReported", turnId: turn.id, usage },
    ...afterSample(state, { ...turn, answer }, at, lastHooks),
  ];
}

/**
 * The records that follow a model's answer. The model is called again when all its tool calls have outputs, or if
 * there are injected items or ends of helpers that it was not sent. Otherwise the turn ends.
 */
function afterSample(
  state: ThreadState,
  turn: TurnState,
  at: number,
  lastHooks: LastHooks | undefined,
): readonly ThreadRecord[] {
  const calls = callsOf(turn);
  if (calls.length === 0) {
    if (turn.injected || (turn.kind === "regular" && hasNews(state))) return [requestSample(turn)];
    return lastHooks !== undefined && turn.kind === "regular"
      ? [{ type: "lastHooksDue", turnId: turn.id, at, event: lastHooks }]
      : [...clearNetwork(state, at), ...leaveShells(turn, at), turnEnded(turn, at, "completed", null)];
  }
  return allSettled(calls) ? [requestSample(turn)] : [];
}

/** Records once per turn and model that another model answers than the requested one. */
function rerouted(
  state: ThreadState,
  turn: TurnState,
  { at, model }: Extract<TurnCommand, { kind: "modelServed" }>,
): readonly ThreadRecord[] {
  const { settings } = stepState(state);
  if (isSameModel(settings.model, model) || turn.servedBy === model) return [];
  return [{ type: "modelRerouted", turnId: turn.id, at, from: settings.model, to: model }];
}

/** Whether two names mean the same model: one may lack the version, or the provider's prefix. */
function isSameModel(requested: string, served: string): boolean {
  const name = requested.toLowerCase().split("/").at(-1)!;
  const other = served.toLowerCase().split("/").at(-1)!;
  return other === name || other.startsWith(`${name}-`);
}
