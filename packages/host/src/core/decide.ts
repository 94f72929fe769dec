import type { ThreadStatus } from "@bobbin/protocol";
import { Fault } from "../errors.ts";
import { decideReviews } from "./approval-reviews/decide.ts";
import { decideChildren } from "./children/decide.ts";
import { decideHelperThreads } from "./children/decide-helper-threads.ts";
import { withNews } from "./children/helper-end-notes.ts";
import type { Command } from "./commands.ts";
import { fold } from "./fold.ts";
import { decideGoal } from "./goal/decide.ts";
import { withGoal } from "./goal/goal-accounting.ts";
import { decideHooks } from "./hooks/decide.ts";
import { decideLife } from "./life/decide.ts";
import { atThreadTime, withOrderedItems } from "./monotonic-thread-time.ts";
import { decideQueue } from "./queue/decide.ts";
import { decideRap } from "./rap/decide.ts";
import { withEvents } from "./rap/tool-server-events.ts";
import { decideReadState, withReadState } from "./read-state/decide.ts";
import type { ThreadRecord } from "./records.ts";
import { activeFlags } from "./requests/active-flags.ts";
import { isDirect } from "./requests/mcp-server-answers.ts";
import { decideServerQuestions } from "./requests/mcp-server-questions.ts";
import { decideNetwork } from "./requests/network-questions.ts";
import type { ThreadState } from "./state.ts";
import { decideTerminals } from "./terminals/decide.ts";
import { decideTurn } from "./turn/decide.ts";
import { withPendingInput } from "./turn/pending-input.ts";

/** The decision on a command: records (possibly none), or a refusal. */
export type Decision =
  | { readonly kind: "accepted"; readonly records: readonly ThreadRecord[]; readonly state: ThreadState }
  | { readonly kind: "refused"; readonly fault: Fault };

/** The texts of running items that clients have seen, by `textKey`. An item that ends early keeps its text. */
export type ShownText = ReadonlyMap<string, string>;

/** Decides on a command: validates it against the state, and returns the records of its effects. Pure. */
export function decide(state: ThreadState, received: Command, shown: ShownText): Decision {
  const command = atThreadTime(state, received);
  const outcome = decideArea(state, command, shown);
  if (outcome instanceof Fault) return { kind: "refused", fault: outcome };
  const at = workedUntil(command);
  const all = withEvents(state, withNews(state, withPendingInput(state, outcome, at), at), at);
  const notBefore = command === received ? Number.NEGATIVE_INFINITY : state.lastAt;
  const counted = withReadState(state, withGoal(state, all, at));
  const records = withOrderedItems(state, counted, notBefore);
  return { kind: "accepted", ...withStatus(state, records) };
}

function decideArea(state: ThreadState, command: Command, shown: ShownText): readonly ThreadRecord[] | Fault {
  switch (command.kind) {
    case "startTurn":
    case "steer":
    case "failTurn":
    case "interrupt":
    case "changeTurnSettings":
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
    case "startHooks":
    case "endHooks":
      return decideHooks(state, command, shown);
    case "markRead":
      return decideReadState(state, command);
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
    case "helperMade":
    case "helperFailed":
    case "helperInputTaken":
    case "hearHelper":
      return decideHelperThreads(state, command);
    case "askNetwork":
    case "networkRuleSaved":
      return decideNetwork(state, command);
    case "askForServer":
    case "withdrawQuestion":
    case "serverSampled":
      return decideServerQuestions(state, command);
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

/**
 * The time until which the thread was worked on; undefined if the time since the last record does not count as work.
 */
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
 * Adds a `statusChanged` record before each record that changes the thread's status, so that a replay of the journal
 * sends the same notifications without computing the state. After an answered request the record comes second:
 * clients expect `serverRequest/resolved` before the new status.
 */
function withStatus(
  before: ThreadState,
  records: readonly ThreadRecord[],
): { records: readonly ThreadRecord[]; state: ThreadState } {
  const out: ThreadRecord[] = [];
  let state = before;
  for (const record of records) {
    const after = fold(state, record);
    // Records that start or end a load set the status themselves, and cause the notification about it. A thread that is
    // not loaded keeps its status.
    if (setsStatus(record) || state.status.type === "notLoaded") {
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
      out.push(...(record.type === "requestResolved" ? [record, change] : [change, record]));
      state = fold(after, change);
    }
  }
  return { records: out, state };
}

function setsStatus({ type }: ThreadRecord): boolean {
  return type === "opened" || type === "adopted" || type === "closed";
}

/** The status of a loaded thread after a record. `systemError` stays until the next turn or load. */
function statusAfter(before: ThreadState, after: ThreadState): ThreadStatus {
  if (after.turn !== null || after.requests.some(isDirect))
    return { type: "active", activeFlags: activeFlags(after.requests) };
  const isSame = before.turn === null && before.lastTurn === after.lastTurn;
  if (isSame && before.status.type !== "active") return before.status;
  return after.lastTurn?.status === "failed" ? { type: "systemError" } : { type: "idle" };
}

function sameStatus(one: ThreadStatus, other: ThreadStatus): boolean {
  if (one.type === "active" && other.type === "active") {
    return one.activeFlags.join() === other.activeFlags.join();
  }
  return one.type === other.type;
}
