import type { ThreadItem } from "@bobbin/protocol";
import { isAtWork } from "../children/helper-thread-state.ts";
import type { ShownText } from "../decide.ts";
import type { ThreadRecord } from "../records.ts";
import { clearDirectQuestions, clearServerQuestions } from "../requests/mcp-server-questions.ts";
import { clearNetwork } from "../requests/resolve-request.ts";
import type { ThreadState } from "../state.ts";
import { isShell } from "../terminals/decide.ts";
import { type CallState, givenUp, isSettled, onlyWaits } from "./call-stages.ts";
import { closeItems, endTurn } from "./end-turn.ts";
import { withTexts } from "./item-texts.ts";
import { callsOf } from "./phase.ts";

/**
 * A turn during which this many hosts died in a row is not continued, because the turn may have caused the crashes.
 */
const MAX_LOST_HOSTS = 3;
/** The deadline of an unacknowledged call to a tool server, if the call has none of its own. */
const UNACKNOWLEDGED_MS = 10 * 60_000;

/**
 * Whether a thread stays loaded after its host died: its turn can continue, or something else is pending (`isLive`).
 * A turn can continue if clients got no part of the model's answer, or if the turn has tool calls that survive a
 * restart.
 */
export function outlives(state: ThreadState): boolean {
  return turnOutlives(state) || isLive(state);
}

/**
 * Whether something besides a turn is pending: calls, subscriptions, events or choices of tool servers, children,
 * helpers that work, or network rules that are not in the rules file yet.
 */
export function isLive({ rap, status, children, helpers, networkRules }: ThreadState): boolean {
  if (status.type === "notLoaded") return false;
  if (networkRules.length > 0 || helpers.open.some(isAtWork)) return true;
  const { subscriptions, late, events, choices } = rap;
  return [subscriptions, late, events, choices, children].some(({ length }) => length > 0);
}

function turnOutlives({ turn }: ThreadState): boolean {
  if (turn === null) return false;
  if (onlyWaits(turn)) return true;
  if (turn.lostHosts >= MAX_LOST_HOSTS) return false;
  const { phase } = turn;
  switch (phase.kind) {
    case "sampling":
      return (!phase.shown && phase.calls.length === 0) || phase.calls.some(canGoOn);
    case "calling":
      return phase.calls.some(canGoOn);
    case "compacting":
    // The hooks' outcome was not recorded, so they run again.
    case "hooks":
      return true;
    case "shell":
    case "ending":
      return false;
  }
}

function canGoOn(call: CallState): boolean {
  return !isSettled(call) && !isLost(call);
}

/**
 * The records about what was lost with a dead host: the rest of the model's answer, and the work of local tools. A
 * tool server that may have received a call can still answer it, so the call is not sent again.
 */
export function lost(state: ThreadState, at: number, shown: ShownText): readonly ThreadRecord[] {
  const { turn } = state;
  if (turn === null) return clearDirectQuestions(state, at);
  // The turn ends. The thread stays loaded for other pending work.
  if (!turnOutlives(state)) return endLost(state, at, shown);
  const withSaved = (item: ThreadItem) => withTexts(item, (key) => shown.get(key) ?? turn.saved[key]);
  const { phase } = turn;
  const calls = callsOf(turn);
  const brokeOff = phase.kind === "sampling" && (phase.shown || calls.length > 0);
  return [
    // Commands and connections to MCP servers ended with the host, so their questions are withdrawn.
    ...clearNetwork(state, at),
    ...clearServerQuestions(state, at),
    ...(brokeOff
      ? [
          ...closeItems(turn, at, shown, "fault"),
          { type: "sampleLost", turnId: turn.id, attempt: turn.attempt } as const,
        ]
      : []),
    ...calls.flatMap((call) => unacknowledged(turn.id, at, call)),
    ...calls.filter(isLost).flatMap(({ call: { callId } }): ThreadRecord[] => {
      const item = turn.open.find(({ id }) => id === callId);
      const ended = item && { ...givenUp(withSaved(item), at), completedAtMs: at };
      return [
        ...(ended ? [{ type: "itemCompleted", turnId: turn.id, at, item: ended } as const] : []),
        outcomeUnknown(turn.id, at, callId),
      ];
    }),
    ...turn.open.filter(isShell).map((item): ThreadRecord => {
      const ended = { ...givenUp(withSaved(item), at), completedAtMs: at };
      return { type: "itemCompleted", turnId: turn.id, at, item: ended };
    }),
  ];
}

/**
 * Ends a turn that cannot continue after its host died. Calls with an unknown outcome get an output, which the model
 * sees in its next turn.
 */
export function endLost(state: ThreadState, at: number, shown: ShownText): readonly ThreadRecord[] {
  const { turn } = state;
  const direct = clearDirectQuestions(state, at);
  if (turn === null) return direct;
  const doubtful = callsOf(turn).filter((call) => isLost(call) || isUnacknowledged(call));
  const answers = doubtful.map(({ call }) => outcomeUnknown(turn.id, at, call.callId));
  return [...direct, ...answers, ...endTurn(state, at, "interrupted", shown)];
}

function outcomeUnknown(turnId: string, at: number, callId: string): ThreadRecord {
  return { type: "toolAnswered", turnId, at, callId, output: OUTCOME_UNKNOWN, success: false };
}

/** The output of a call whose outcome is unknown, for the model. */
export const OUTCOME_UNKNOWN =
  "The host ended while this call was under way: whether it had its effect is not known. Look before you try again.";

/** Whether a local tool was performing the call, so that its work was lost with the host. */
function isLost({ stage }: CallState): boolean {
  return stage.kind === "dispatched" && !stage.again && stage.via === undefined;
}

/** Whether it is unknown if a tool server received the call, and the call must not be sent again. */
function isUnacknowledged({ stage }: CallState): boolean {
  if (stage.kind === "waiting") return stage.unacknowledged === true;
  return stage.kind === "dispatched" && !stage.again && stage.via !== undefined;
}

/** Lets an unacknowledged call wait for its result until its deadline. */
function unacknowledged(turnId: string, at: number, call: CallState): readonly ThreadRecord[] {
  const { stage } = call;
  if (stage.kind !== "dispatched" || !isUnacknowledged(call)) return [];
  const until = stage.until ?? (stage.at ?? at) + UNACKNOWLEDGED_MS;
  const { callId } = call.call;
  return [{ type: "toolWaiting", turnId, at, callId, until, unacknowledged: true }];
}
