import type { ThreadItem } from "@bobbin/protocol";
import type { ShownText } from "../decide.ts";
import type { ThreadRecord } from "../records.ts";
import { clearNetwork } from "../requests/resolve.ts";
import type { ThreadState } from "../state.ts";
import { isShell } from "../terminals/decide.ts";
import { type CallState, givenUp, isSettled, onlyWaits } from "./calls.ts";
import { closeItems, endTurn } from "./ending.ts";
import { withTexts } from "./texts.ts";

/** A turn that was at work when so many hosts in a row were lost is not tried again: it may be the reason. */
const MAX_LOST_HOSTS = 3;
/** How long a tool server is waited for that may or may not have a call, if the call has no deadline of its own. */
const UNACKNOWLEDGED_MS = 10 * 60_000;

/**
 * Whether a thread whose host is gone stays loaded. Its turn goes on if the model was asked and nothing of its answer was shown: it is
 * asked again; or if calls are left that a restart does not take away, they are answered or done.
 */
export function outlives(state: ThreadState): boolean {
  return turnOutlives(state) || isLive(state);
}

/**
 * Tool servers may still have something to say to it, or have said what nobody has been shown; or a child is not over; or
 * what somebody decided for good is not saved yet.
 */
export function isLive({ rap, status, children, networkRules }: ThreadState): boolean {
  if (status.type === "notLoaded") return false;
  if (networkRules.length > 0) return true;
  const { subscriptions, late, events, choices } = rap;
  return [subscriptions, late, events, choices, children].some(({ length }) => length > 0);
}

function turnOutlives({ turn }: ThreadState): boolean {
  if (turn === null) return false;
  if (onlyWaits(turn)) return true;
  if (turn.lostHosts >= MAX_LOST_HOSTS) return false;
  if (!turn.sampled && !turn.shown && turn.calls.length === 0) return true;
  return turn.calls.some((call) => !isSettled(call) && !isLost(call));
}

/**
 * What went with the host: the rest of what the model was saying, and what local tools were doing. A tool server that may
 * have a call can still answer it, but must not be sent it twice.
 */
export function lost(state: ThreadState, at: number, shown: ShownText): readonly ThreadRecord[] {
  const { turn } = state;
  if (turn === null) return [];
  // The thread goes on for what tool servers have to say to it.
  if (!turnOutlives(state)) return endLost(state, at, shown);
  const withSaved = (item: ThreadItem) => withTexts(item, (key) => shown.get(key) ?? turn.saved[key]);
  const brokeOff = !turn.sampled && (turn.shown || turn.calls.length > 0);
  return [
    // The commands that asked are gone.
    ...clearNetwork(state, at),
    ...(brokeOff
      ? [
          ...closeItems(turn, at, shown, "fault"),
          { type: "sampleLost", turnId: turn.id, attempt: turn.attempt } as const,
        ]
      : []),
    ...turn.calls.flatMap((call) => unacknowledged(turn.id, at, call)),
    ...turn.calls.filter(isLost).flatMap(({ call: { callId } }): ThreadRecord[] => {
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

/** Ends a turn whose host is gone and that does not go on: the model's next turn knows what may have happened. */
export function endLost(state: ThreadState, at: number, shown: ShownText): readonly ThreadRecord[] {
  const { turn } = state;
  if (turn === null) return [];
  const doubtful = turn.calls.filter((call) => isLost(call) || isUnacknowledged(call));
  const answers = doubtful.map(({ call }) => outcomeUnknown(turn.id, at, call.callId));
  return [...answers, ...endTurn(state, at, "interrupted", shown)];
}

function outcomeUnknown(turnId: string, at: number, callId: string): ThreadRecord {
  return { type: "toolAnswered", turnId, at, callId, output: OUTCOME_UNKNOWN, success: false };
}

/** What the model is told of a call that may have had its effect. */
export const OUTCOME_UNKNOWN =
  "The host ended while this call was under way: whether it had its effect is not known. Look before you try again.";

/** It was being done here, by what went with the host. */
function isLost({ stage }: CallState): boolean {
  return stage.kind === "dispatched" && !stage.again && stage.via === undefined;
}

/** It was on its way to a tool server that must not be sent it twice, or waits for one that may not have it. */
function isUnacknowledged({ stage }: CallState): boolean {
  if (stage.kind === "waiting") return stage.unacknowledged === true;
  return stage.kind === "dispatched" && !stage.again && stage.via !== undefined;
}

/** A call on its way waits for its result, until its deadline. */
function unacknowledged(turnId: string, at: number, call: CallState): readonly ThreadRecord[] {
  const { stage } = call;
  if (stage.kind !== "dispatched" || !isUnacknowledged(call)) return [];
  const until = stage.until ?? (stage.at ?? at) + UNACKNOWLEDGED_MS;
  const { callId } = call.call;
  return [{ type: "toolWaiting", turnId, at, callId, until, unacknowledged: true }];
}
