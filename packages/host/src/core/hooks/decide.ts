import type { ThreadItem } from "@bobbin/protocol";
import type { ShownText } from "../decide.ts";
import type { ThreadRecord } from "../records.ts";
import { clearNetwork } from "../requests/resolve-request.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { leaveShells } from "../terminals/decide.ts";
import { findCall } from "../turn/call-list.ts";
import { started } from "../turn/call-step-records.ts";
import { endTurn, requestSample, turnEnded } from "../turn/end-turn.ts";
import { callsOf } from "../turn/phase.ts";
import { settleCall } from "../turn/settle-call.ts";
import type { HookCommand } from "./commands.ts";
import type { HookRecord } from "./records.ts";

type EndHooks = Extract<HookCommand, { kind: "endHooks" }>;

/** Limit on how often stop hooks can make the model continue in one turn, so that the turn ends eventually. */
export const MOST_STOP_BLOCKS = 25;

/** Decides commands about hooks. Commands that come too late, after the turn or its phase, have no effect. */
export function decideHooks(
  state: ThreadState,
  command: HookCommand,
  shown: ShownText,
): readonly ThreadRecord[] {
  const { turn } = state;
  if (turn?.id !== command.turnId) return [];
  if (command.kind === "startHooks") {
    const { at, turnId, runs } = command;
    return runs.length === 0 ? [] : [{ type: "hooksStarted", turnId, at, runs }];
  }
  switch (command.event) {
    case "preToolUse":
      return beforeCall(state, turn, command);
    case "permissionRequest":
      return beforeQuestion(turn, command);
    case "stop":
    case "subagentStop":
    case "postCompact":
      return isAtEnd(turn, command.event) ? atEnd(state, turn, command) : [ended(command)];
    case "preCompact": {
      const ends = command.outcome.stop === true && turn.attempt === command.attempt;
      return [ended(command), ...(ends ? endTurn(state, command.at, "interrupted", shown) : [])];
    }
    default: {
      const ends = command.outcome.stop === true && turn.attempt === command.attempt;
      return [ended(command), ...(ends ? endOf(state, turn, command.at) : [])];
    }
  }
}

function ended({ at, turnId, event, subject, runs, outcome }: EndHooks): HookRecord {
  return { type: "hooksEnded", turnId, at, event, subject, runs, outcome };
}

/** Ends the turn without another model call. */
function endOf(state: ThreadState, turn: TurnState, at: number): readonly ThreadRecord[] {
  return [...clearNetwork(state, at), ...leaveShells(turn, at), turnEnded(turn, at, "completed", null)];
}

/** The outcome of preToolUse hooks: the call continues, or is blocked. */
function beforeCall(state: ThreadState, turn: TurnState, command: EndHooks): readonly ThreadRecord[] {
  const found = findCall(callsOf(turn), command.subject ?? "");
  if (found?.stage.kind !== "proposed" || found.stage.hooked) return [];
  const { block } = command.outcome;
  if (block === undefined) return [ended(command)];
  const output = `A hook blocked this call, and it was not made: ${block}`;
  return [ended(command), ...settleCall(state, turn, found, command.at, { output, success: false })];
}

/**
 * The outcome of `permissionRequest` hooks. If a hook answers, the call's item is shown as after a person's answer.
 */
function beforeQuestion(turn: TurnState, command: EndHooks): readonly ThreadRecord[] {
  const found = findCall(callsOf(turn), command.subject ?? "");
  if (found === undefined || found.stage.kind === "settled") return [];
  const item = command.outcome.answer === undefined ? undefined : command.item;
  return [...started(turn, command.at, item), ended(command)];
}

function isAtEnd({ phase }: TurnState, event: EndHooks["event"]): boolean {
  return phase.kind === "hooks" && phase.event === event;
}

/**
 * The outcome of the hooks at the end of a turn: the turn ends, or the model continues with the hooks' feedback as
 * its prompt.
 */
function atEnd(state: ThreadState, turn: TurnState, command: EndHooks): readonly ThreadRecord[] {
  const { at, turnId, outcome, runs, itemId } = command;
  const { stopBlocks = 0 } = turn;
  const goesOn = outcome.block !== undefined && outcome.stop !== true && itemId !== undefined;
  if (!goesOn || stopBlocks >= MOST_STOP_BLOCKS) return [ended(command), ...endOf(state, turn, at)];
  const fragments = runs.flatMap(({ id: hookRunId, status, entries }) =>
    status === "blocked"
      ? entries.filter(({ kind }) => kind === "feedback").map(({ text }) => ({ hookRunId, text }))
      : [],
  );
  const item: ThreadItem = {
    type: "hookPrompt",
    id: itemId,
    fragments,
    startedAtMs: at,
    completedAtMs: null,
  };
  return [
    ended(command),
    { type: "itemStarted", turnId, at, item },
    { type: "itemCompleted", turnId, at, item: { ...item, completedAtMs: at } },
    requestSample(turn),
  ];
}
