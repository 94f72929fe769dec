import type { ThreadGoalStatus, TokenUsageBreakdown, TurnError, TurnStatus } from "@bobbin/protocol";
import { fold } from "../fold.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { goalNews } from "./goal-prompts.ts";
import type { Goal, GoalState } from "./records.ts";

/** A goal is blocked after this many consecutive turns that the host started for it and that called no tool. */
const MAX_FRUITLESS = 10;

/**
 * Adds records about the goal to other records: used tokens and time before a turn's end, and messages to the model
 * before the next model call. `at` is undefined if the elapsed time does not count.
 */
export function withGoal(
  before: ThreadState,
  records: readonly ThreadRecord[],
  at: number | undefined,
): readonly ThreadRecord[] {
  if (before.goal === null) return records;
  const out: ThreadRecord[] = [];
  let state = before;
  let tokens = 0;
  const add = (record: ThreadRecord): void => {
    out.push(record);
    state = fold(state, record);
  };
  const account = (turnId: string, end?: Ending): void => {
    const { goal } = state;
    if (goal === null) return;
    const next = accounted(goal, { turnId, tokens, at, end });
    tokens = 0;
    if (next !== undefined) add({ type: "goalChanged", at: at ?? goal.goal.updatedAt, turnId, ...next });
  };
  for (const record of records) {
    if (record.type === "turnEnded") account(record.turnId, record);
    if (record.type === "sampleRequested" && record.attempt > 1) {
      account(record.turnId);
      const { goal } = state;
      const { turnId } = record;
      if (goal?.news) {
        const text = goalNews(goal.news, goal.goal);
        add({ type: "goalContext", at: at ?? goal.goal.updatedAt, turnId, about: goal.news, text });
      }
    }
    add(record);
    if (record.type === "usageReported") tokens += spent(record.usage.last);
    else if (record.type === "compacted" || record.type === "serverSampled") tokens += spent(record.spent);
    else if (record.type === "reviewEnded" && record.usage !== null) tokens += spent(record.usage);
  }
  if (tokens > 0 && state.turn !== null) account(state.turn.id);
  return out;
}

interface Ending {
  readonly status: TurnStatus;
  readonly error: TurnError | null;
}

interface Work {
  readonly turnId: string;
  readonly tokens: number;
  readonly at: number | undefined;
  readonly end?: Ending | undefined;
}

/** The goal after a turn has used tokens and time; undefined if nothing changes. */
function accounted(
  { goal, countedUntil, fruitless, endedIn }: GoalState,
  { turnId, tokens, at, end }: Work,
): { readonly goal: Goal; readonly countedUntil: number | null } | undefined {
  const counts = goal.status === "active" || goal.status === "budgetLimited" || endedIn === turnId;
  const used = counts ? tokens : 0;
  const timed = withTime(goal, countedUntil, at);
  const tokensUsed = goal.tokensUsed + used;
  const limited = statusWithin(goal.status, tokensUsed, goal.tokenBudget);
  const status = end === undefined ? limited : statusAfter(limited, end, fruitless);
  const runs = status === "active" || status === "budgetLimited";
  if (used === 0 && status === goal.status && timed.goal === goal) return undefined;
  return {
    goal: { ...timed.goal, tokensUsed, status, updatedAt: at ?? goal.updatedAt },
    countedUntil: runs ? timed.countedUntil : null,
  };
}

function statusAfter(
  status: ThreadGoalStatus,
  { status: turn, error }: Ending,
  fruitless: number,
): ThreadGoalStatus {
  if (turn === "failed") {
    if (error?.codexErrorInfo === "usageLimitExceeded")
      return status === "active" || status === "budgetLimited" ? "usageLimited" : status;
    return status === "active" ? "blocked" : status;
  }
  return status === "active" && fruitless >= MAX_FRUITLESS ? "blocked" : status;
}

/** Adds the whole seconds since `countedUntil` to the goal's time. The next call counts the remaining milliseconds. */
export function withTime(
  goal: Goal,
  countedUntil: number | null,
  at: number | undefined,
): { readonly goal: Goal; readonly countedUntil: number | null } {
  if (countedUntil === null || at === undefined) return { goal, countedUntil };
  const seconds = Math.max(0, Math.floor((at - countedUntil) / 1000));
  if (seconds === 0) return { goal, countedUntil };
  return {
    goal: { ...goal, timeUsedSeconds: goal.timeUsedSeconds + seconds },
    countedUntil: countedUntil + seconds * 1000,
  };
}

/** The status of a goal within its token budget. */
export function statusWithin(
  status: ThreadGoalStatus,
  tokensUsed: number,
  budget: number | null,
): ThreadGoalStatus {
  return status === "active" && budget !== null && tokensUsed >= budget ? "budgetLimited" : status;
}

/** The tokens that count towards the budget. Cached input tokens do not. */
function spent({ inputTokens, cachedInputTokens, outputTokens }: TokenUsageBreakdown): number {
  return Math.max(0, inputTokens - cachedInputTokens) + Math.max(0, outputTokens);
}
