import type { CollabAgentState, ThreadItem } from "@bobbin/protocol";
import { fold } from "../fold.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState, TurnState } from "../state.ts";
import type { CallState, CallStep } from "../turn/call-stages.ts";
import { started } from "../turn/call-step-records.ts";
import { runningCalls } from "../turn/phase.ts";
import { settleCall } from "../turn/settle-call.ts";
import type { Help } from "./helper-calls.ts";
import {
  findHelper,
  type HelperNews,
  NOT_FOUND,
  PENDING,
  permissionsOf,
  resultOf,
  SHUT_DOWN,
  statusForModel,
} from "./helper-thread-state.ts";

type HelpStep = Extract<CallStep, { kind: "help" }>;
type CollabItem = Extract<ThreadItem, { type: "collabAgentToolCall" }>;
/** States of helpers by thread ID. */
type States = Readonly<Record<string, CollabAgentState>>;

/** The records of a tool call about helpers. */
export function helpCall(
  state: ThreadState,
  turn: TurnState,
  found: CallState,
  at: number,
  { help, item }: HelpStep,
): readonly ThreadRecord[] {
  const shown = started(turn, at, item);
  const context: CallContext = { state, turn: withShown(turn, shown), found, at };
  return [...shown, ...outcomeOf(context, help)];
}

interface CallContext {
  readonly state: ThreadState;
  readonly turn: TurnState;
  readonly found: CallState;
  readonly at: number;
}

function outcomeOf(context: CallContext, help: Help): readonly ThreadRecord[] {
  const { state, turn, found, at } = context;
  const { helpers } = state;
  const { callId } = found.call;
  switch (help.kind) {
    case "spawn": {
      const { kind: _, limit, ...due } = help;
      if (helpers.open.length >= limit) return refused(context, limitWords(limit));
      const awaits = { kind: "thread", childId: help.childId } as const;
      return [
        { type: "helperDue", at, ...due },
        { type: "toolWaiting", turnId: turn.id, at, callId, until: null, awaits },
      ];
    }
    case "send": {
      const { childId, input } = help;
      const helper = findHelper(helpers, childId);
      if (helper === undefined) return missing(context, childId);
      const output = JSON.stringify({ submission_id: input.id });
      const permissions = permissionsOf(state.settings);
      // If the thread's permissions have changed since the last input, this input changes the helper's permissions,
      // too.
      const isUnchanged = JSON.stringify(permissions) === JSON.stringify(helper.permissions);
      return [
        { type: "helperInputSent", at, childId, input: isUnchanged ? input : { ...input, permissions } },
        ...settled(context, output, { [childId]: helper.state }),
      ];
    }
    case "wait": {
      const { childIds, until } = help;
      const results = resultsOf(state, childIds);
      if (Object.keys(results).length > 0) return waitEnded(context, results);
      const awaits = { kind: "ends", childIds } as const;
      return [{ type: "toolWaiting", turnId: turn.id, at, callId, until, awaits }];
    }
    case "close": {
      const { childId, previous } = help;
      const output = JSON.stringify({ previous_status: statusForModel(previous) });
      return inOrder({ ...state, turn }, [
        (now) => waitsSettled(now, at, childId, SHUT_DOWN),
        () => (findHelper(helpers, childId) ? [{ type: "helperClosed", at, childId }] : []),
        (now) => settled({ ...context, state: now, turn: now.turn! }, output, { [childId]: previous }),
      ]);
    }
    case "open": {
      const { kind: _, limit, ...opened } = help;
      const known = findHelper(helpers, help.childId);
      if (known === undefined && helpers.open.length >= limit) return refused(context, limitWords(limit));
      const now = known?.state ?? help.state;
      return [
        ...(known === undefined ? ([{ type: "helperOpened", at, ...opened }] as const) : []),
        ...settled(context, JSON.stringify({ status: statusForModel(now) }), { [help.childId]: now }),
      ];
    }
    case "missing":
      return missing(context, help.childId);
    case "full":
      return refused(context, limitWords(help.limit));
  }
}

/** Answers the call that started a helper, now that the helper's thread exists. */
export function spawnSettled(state: ThreadState, at: number, childId: string): readonly ThreadRecord[] {
  const context = waitingFor(state, at, childId);
  const helper = findHelper(state.helpers, childId);
  if (context === undefined || helper === undefined) return [];
  const { model, effort } = { ...state.settings, ...helper.start?.settings };
  const output = JSON.stringify({ agent_id: childId, nickname: helper.nickname });
  const shown = { model, reasoningEffort: effort };
  return settled(context, output, { [childId]: PENDING }, { shown });
}

/** Answers the call that started a helper whose thread could not be created. */
export function spawnFailed(
  state: ThreadState,
  at: number,
  childId: string,
  why: string,
): readonly ThreadRecord[] {
  const context = waitingFor(state, at, childId);
  return context === undefined ? [] : refused(context, `The helper could not be started: ${why}`);
}

/** The call that waits for a helper's thread to be created; undefined if no call waits. */
function waitingFor(state: ThreadState, at: number, childId: string): CallContext | undefined {
  const { turn } = state;
  const found = runningCalls(state).find(({ stage }) => {
    const awaits = stage.kind === "waiting" ? stage.awaits : undefined;
    return awaits?.kind === "thread" && awaits.childId === childId;
  });
  return turn == null || found === undefined ? undefined : { state, turn, found, at };
}

/** Whether a call waits for the end of a helper. */
export function isAwaited(state: ThreadState, childId: string): boolean {
  return runningCalls(state).some((call) => endsOf(call).includes(childId));
}

/** Whether a running call closes the helper. That call's output contains the helper's last state. */
export function isBeingClosed(state: ThreadState, childId: string): boolean {
  return runningCalls(state).some(({ stage }) => {
    const { closes } = (stage.kind === "dispatched" ? (stage.plan ?? {}) : {}) as { closes?: unknown };
    return closes === childId;
  });
}

/** Answers the calls that wait for the end of a helper. */
export function waitsSettled(
  state: ThreadState,
  at: number,
  childId: string,
  result: CollabAgentState,
): readonly ThreadRecord[] {
  const waiting = runningCalls(state).filter((call) => endsOf(call).includes(childId));
  return inOrder(
    state,
    waiting.map((found) => (now) => {
      const results = { ...resultsOf(now, endsOf(found)), [childId]: result };
      return waitEnded({ state: now, turn: now.turn!, found, at }, results);
    }),
  );
}

/** Applies steps in order, each to the state that the previous steps led to, and returns their records. */
export function inOrder(
  before: ThreadState,
  steps: readonly ((state: ThreadState) => readonly ThreadRecord[])[],
): readonly ThreadRecord[] {
  let state = before;
  return steps.flatMap((step) => {
    const records = step(state);
    for (const record of records) state = fold(state, record);
    return records;
  });
}

/** Answers a wait for helpers early, because there is new input for the model. */
export function waitCutShort(turn: TurnState, found: CallState, at: number): readonly ThreadRecord[] {
  const { callId } = found.call;
  const item = turn.open.find(({ id }) => id === callId);
  const output = JSON.stringify({
    status: {},
    timed_out: false,
    message: "The wait ended early because there is new input. The agents go on.",
  });
  return [
    ...(item === undefined
      ? []
      : ([{ type: "itemCompleted", turnId: turn.id, at, item: completed(item, at, {}) }] as const)),
    { type: "toolAnswered", turnId: turn.id, at, callId, output, success: true },
  ];
}

export function endsOf({ stage }: CallState): readonly string[] {
  const awaits = stage.kind === "waiting" ? stage.awaits : undefined;
  return awaits?.kind === "ends" ? awaits.childIds : [];
}

function resultsOf({ helpers }: ThreadState, childIds: readonly string[]): States {
  return Object.fromEntries(
    childIds.flatMap((childId) => {
      const result = resultOf(helpers, childId);
      return result === undefined ? [] : [[childId, result]];
    }),
  );
}

function waitEnded(context: CallContext, results: States): readonly ThreadRecord[] {
  const { state, at } = context;
  const status = Object.fromEntries(
    Object.entries(results).map(([childId, result]) => [childId, statusForModel(result)]),
  );
  // These ends are in the call's output, so the model needs no note about them.
  const reported = state.helpers.news.filter((one) => isSame(one.state, results[one.childId]));
  return [
    ...reported.map(({ childId, seq }): ThreadRecord => ({ type: "helperTold", at, childId, seq })),
    ...settled(context, JSON.stringify({ status, timed_out: false }), results),
  ];
}

function isSame(one: CollabAgentState, other: CollabAgentState | undefined): boolean {
  return one.status === other?.status && one.message === other.message;
}

function settled(
  { state, turn, found, at }: CallContext,
  output: string,
  states: States,
  { success = true, shown = {} }: { readonly success?: boolean; readonly shown?: Partial<CollabItem> } = {},
): readonly ThreadRecord[] {
  const open = turn.open.find(({ id }) => id === found.call.callId);
  const item = open && ({ ...completed(open, at, states), ...shown } as ThreadItem);
  return settleCall(state, turn, found, at, { output, success, item });
}

/** Answers the call with an error that the model can act on. */
function refused({ state, turn, found, at }: CallContext, output: string): readonly ThreadRecord[] {
  return settleCall(state, turn, found, at, { output, success: false });
}

/** The item of a completed call about helpers. */
export function completed(item: ThreadItem, at: number, states: States): ThreadItem {
  if (item.type !== "collabAgentToolCall") return item;
  const wrong = Object.values(states).some(({ status }) => status === "errored" || status === "notFound");
  return {
    ...item,
    status: wrong ? "failed" : "completed",
    receiverThreadIds: Object.keys(states),
    agentsStates: { ...states },
    completedAtMs: at,
  };
}

function withShown(turn: TurnState, shown: readonly ThreadRecord[]): TurnState {
  const items = shown.flatMap((record) => (record.type === "itemStarted" ? [record.item] : []));
  return items.length === 0 ? turn : { ...turn, open: [...turn.open, ...items] };
}

function missing(context: CallContext, childId: string): readonly ThreadRecord[] {
  const words = `There is no open agent with the id ${childId}. If it was closed, resume_agent opens it again.`;
  return settled(context, words, { [childId]: NOT_FOUND }, { success: false });
}

function limitWords(limit: number): string {
  return `The limit of ${limit} open agents is reached. Close an agent that you no longer need with close_agent, or do the task yourself.`;
}

/** The message about a helper's end for the model, in the format of the Codex CLI. */
export function newsForModel({ childId, state }: HelperNews): unknown {
  const notice = JSON.stringify({ agent_path: childId, status: statusForModel(state) });
  const text = `<subagent_notification>\n${notice}\n</subagent_notification>`;
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}
