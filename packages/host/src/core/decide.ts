import type { ThreadStatus } from "@bobbin/protocol";
import { Fault } from "../errors.ts";
import { decideChildren } from "./children/decide.ts";
import type { Command } from "./commands.ts";
import { fold } from "./fold.ts";
import { withGoal } from "./goal/account.ts";
import { decideGoal } from "./goal/decide.ts";
import { decideLife } from "./life/decide.ts";
import { decideQueue } from "./queue/decide.ts";
import { decideRap } from "./rap/decide.ts";
import { withEvents } from "./rap/events.ts";
import type { ThreadRecord } from "./records.ts";
import { activeFlags } from "./requests/flags.ts";
import { decideNetwork } from "./requests/network.ts";
import { decideReviews } from "./reviews/decide.ts";
import type { ThreadState } from "./state.ts";
import { decideTerminals } from "./terminals/decide.ts";
import { atThreadTime, withOrderedItems } from "./thread-time.ts";
import { decideTurn } from "./turn/decide.ts";
import { withUnheard } from "./turn/unheard.ts";

/** What a command leads to: records (none: it changes nothing), or a refusal. */
export type Decision =
  | { readonly kind: "accepted"; readonly records: readonly ThreadRecord[]; readonly state: ThreadState }
  | { readonly kind: "refused"; readonly fault: Fault };

/** The running items' texts as clients have them, by `textKey`: what ends early keeps them. */
export type ShownText = ReadonlyMap<string, string>;

export function decide(state: ThreadState, asked: Command, shown: ShownText): Decision {
  const command = atThreadTime(state, asked);
  const outcome = decideArea(state, command, shown);
  if (outcome instanceof Fault) return { kind: "refused", fault: outcome };
  const at = workedUntil(command);
  const all = withEvents(state, withUnheard(state, outcome, at), at);
  const notBefore = command === asked ? Number.NEGATIVE_INFINITY : state.lastAt;
  const records = withOrderedItems(state, withGoal(state, all, at), notBefore);
  return { kind: "accepted", ...withStatus(state, records) };
}

function decideArea(state: ThreadState, command: Command, shown: ShownText): readonly ThreadRecord[] | Fault {
  switch (command.kind) {
    case "startTurn":
    case "steer":
    case "interrupt":
    case "itemStarted":
    case "itemCompleted":
    case "toolCalled":
    case "stepCall":
    case "answer":
    case "modelServed":
    case "saveText":
    case "sampled":
    case "showDiff":
    case "startReview":
    case "compact":
    case "compactFirst":
    case "summarised":
      return decideTurn(state, command, shown);
    case "reviewed":
    case "approveDenied":
      return decideReviews(state, command, shown);
    case "queueInput":
    case "changeQueued":
    case "removeQueued":
    case "reorderQueue":
    case "startQueued":
      return decideQueue(state, command);
    case "setGoal":
    case "clearGoal":
    case "createGoal":
    case "finishGoal":
    case "continueGoal":
    case "takeUpGoal":
      return decideGoal(state, command);
    case "startShell":
    case "endCommand":
      return decideTerminals(state, command);
    case "childMade":
    case "childEnded":
    case "childFailed":
      return decideChildren(state, command);
    case "askNetwork":
    case "networkRuleSaved":
      return decideNetwork(state, command);
    case "reportCall":
    case "receiveEvent":
    case "updateView":
    case "askChoice":
    case "askOAuth":
    case "choiceDelayed":
    case "choicePosted":
    case "expireCall":
    case "lookUp":
    case "startEvents":
      return decideRap(state, command);
    default:
      return decideLife(state, command, shown);
  }
}

/** Until when what was under way was worked on; undefined if its host was gone for who knows how long. */
function workedUntil(command: Command): number | undefined {
  switch (command.kind) {
    case "open":
    case "adopt":
    case "saveText":
      return undefined;
    case "close":
      return command.reason === "lost" ? undefined : command.at;
    default:
      return command.at;
  }
}

/**
 * Folds the records and puts a `statusChanged` before each one that changes the status: the status is told
 * just before what caused it, and a replay of the journal tells the same without knowing the state.
 */
function withStatus(
  before: ThreadState,
  records: readonly ThreadRecord[],
): { records: readonly ThreadRecord[]; state: ThreadState } {
  const out: ThreadRecord[] = [];
  let state = before;
  for (const record of records) {
    const after = fold(state, record);
    // What begins or ends a load says its status itself, and who loads or unloads tells it.
    // One that is not loaded has no other status, whatever is done to its journal.
    if (tellsStatus(record) || state.status.type === "notLoaded") {
      out.push(record);
      state = after;
      continue;
    }
    const status = statusAfter(state, after);
    if (sameStatus(status, state.status)) {
      out.push(record);
      state = after;
    } else {
      const change: ThreadRecord = { type: "statusChanged", status };
      out.push(change, record);
      state = fold(after, change);
    }
  }
  return { records: out, state };
}

function tellsStatus({ type }: ThreadRecord): boolean {
  return type === "opened" || type === "adopted" || type === "closed";
}

/** The one place that says what a loaded thread's status becomes. A failure shows until the next turn or load. */
function statusAfter(before: ThreadState, after: ThreadState): ThreadStatus {
  if (after.turn !== null) return { type: "active", activeFlags: activeFlags(after.requests) };
  if (before.turn === null && before.lastTurn === after.lastTurn) return before.status;
  return after.lastTurn?.status === "failed" ? { type: "systemError" } : { type: "idle" };
}

function sameStatus(one: ThreadStatus, other: ThreadStatus): boolean {
  if (one.type === "active" && other.type === "active") {
    return one.activeFlags.join() === other.activeFlags.join();
  }
  return one.type === other.type;
}
