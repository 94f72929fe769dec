import type { ThreadItem, ThreadTokenUsage } from "@bobbin/protocol";
import { type Fault, fault, notSteerableFault } from "../../errors.ts";
import type { SampleOutcome, TurnCommand } from "../commands.ts";
import type { ShownText } from "../decide.ts";
import { settingsChanged } from "../life/settings.ts";
import { defer, isDeferrable } from "../rap/late.ts";
import type { ThreadRecord } from "../records.ts";
import { networkDecision } from "../requests/network.ts";
import { clearNetwork, resolve } from "../requests/resolve.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { leaveShells } from "../terminals/decide.ts";
import { acceptedTurn, inputAccepted } from "./accepted.ts";
import { allSettled } from "./call-list.ts";
import { uniqueCallId } from "./calls.ts";
import { changesOf } from "./changes.ts";
import { beginCompaction, coverage, mayCompact, startCompaction, summarised } from "./compaction.ts";
import { closeItems, endTurn, requestSample, retrying, turnEnded } from "./ending.ts";
import { contextGiven } from "./given-context.ts";
import { reviewed, startReview } from "./review.ts";
import { stepCall } from "./step-call.ts";
import { addUsage } from "./usage.ts";

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
      if (turn === null) return startTurn(state, command);
      return notSteerable(turn) ?? addInput(state, turn, command, shown);
    case "steer":
      if (acceptedTurn(state, command.clientUserMessageId) !== undefined) return [];
      if (turn === null) return fault("noActiveTurnToSteer");
      if (command.expectedTurnId !== turn.id) return fault("steerMismatch", command.expectedTurnId, turn.id);
      if (command.input.length === 0) return fault("inputEmpty");
      return notSteerable(turn) ?? addInput(state, turn, command, shown);
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
      const { compacting } = turn;
      return compacting === null ? [] : summarised(state, { ...turn, compacting }, command, shown);
    }
    case "sampled":
      if (turn?.id !== command.turnId || turn.attempt !== command.attempt) return [];
      return sampled(state, turn, command, shown);
  }
}

function notSteerable({ kind }: TurnState): Fault | undefined {
  return kind === "regular" ? undefined : notSteerableFault(kind);
}

type StartTurn = Extract<TurnCommand, { kind: "startTurn" }>;
type Steer = Extract<TurnCommand, { kind: "steer" }>;

export function startTurn(state: ThreadState, command: StartTurn): readonly ThreadRecord[] {
  const { at, turnId, input, outputSchema, changes } = command;
  return [
    ...settingsChanged(state, at, changes),
    { type: "turnStarted", turnId, at, input, outputSchema },
    ...contextGiven(state, turnId, at, command.context ?? []),
    ...userMessage(turnId, command),
    { type: "sampleRequested", turnId, attempt: 1 },
  ];
}

/**
 * What the model was saying ends where it is, and the model is called again with the new input. While tools are at
 * work for it, or a summary is made, the input waits for them: what they answer has to come first. Tool servers may take
 * days, and are not waited for.
 */
function addInput(
  state: ThreadState,
  turn: TurnState,
  command: StartTurn | Steer,
  shown: ShownText,
): readonly ThreadRecord[] {
  const speaks = command.input.length > 0;
  const deferred = speaks && isDeferrable(state, turn) ? defer(state, turn, command.at) : [];
  const busy = turn.compacting !== null || (deferred.length === 0 && !allSettled(turn.calls));
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
    const tooLong = error.codexErrorInfo === "contextWindowExceeded";
    if (tooLong && mayCompact(turn) && allSettled(turn.calls)) {
      const how = { covers: coverage(turn), lighter: 0, because: error };
      return [...closeItems(turn, at, shown, "fault"), ...beginCompaction(turn, at, how)];
    }
    if (retry === undefined || turn.retries >= retry.of) return endTurn(state, at, "failed", shown, error);
    const closed = closeItems(turn, at, shown, "fault");
    if (!allSettled(turn.calls)) {
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
    turn.kind === "review" && turn.calls.length === 0
      ? reviewed(turn.id, at, outcome.review ?? "")
      : { records: [], answer: turn.answer };
  return [
    ...closeItems(turn, at, shown),
    ...review,
    { type: "usageReported", turnId: turn.id, usage },
    ...afterSample(state, { ...turn, answer }, at),
  ];
}

/**
 * A model that called tools is called again with their answers, once all are there; and one that has not seen what
 * clients put in while it spoke, with that.
 */
function afterSample(state: ThreadState, turn: TurnState, at: number): readonly ThreadRecord[] {
  if (turn.calls.length === 0) {
    return turn.injected
      ? [requestSample(turn)]
      : [...clearNetwork(state, at), ...leaveShells(turn, at), turnEnded(turn, at, "completed", null)];
  }
  return allSettled(turn.calls) ? [requestSample(turn)] : [];
}

/** Told once for each model in a turn. */
function rerouted(
  { settings }: ThreadState,
  turn: TurnState,
  { at, model }: Extract<TurnCommand, { kind: "modelServed" }>,
): readonly ThreadRecord[] {
  if (isSameModel(settings.model, model) || turn.servedBy === model) return [];
  return [{ type: "modelRerouted", turnId: turn.id, at, from: settings.model, to: model }];
}

/** A model's name may be short for one of its versions, or have the provider's name before it. */
function isSameModel(asked: string, served: string): boolean {
  const name = asked.toLowerCase().split("/").at(-1)!;
  const other = served.toLowerCase().split("/").at(-1)!;
  return other === name || other.startsWith(`${name}-`);
}
