import type { ThreadState } from "../state.ts";
import type { TurnRecord } from "../turn/records.ts";
import type { GoalRecord, GoalState } from "./records.ts";

type Of<T extends GoalRecord["type"]> = Extract<GoalRecord, { type: T }>;
type GoalChanged = Of<"goalChanged">;
type OfTurn<T extends TurnRecord["type"]> = Extract<TurnRecord, { type: T }>;

/** The objective serves as the thread's preview until there is a user message. */
export function foldGoalChanged(state: ThreadState, record: GoalChanged): ThreadState {
  return { ...state, preview: state.preview || record.goal.objective, goal: changed(state, record) };
}

/** The model was informed of the pending change of the goal. */
export function foldGoalContext(state: ThreadState, { about }: Of<"goalContext">): ThreadState {
  const after = about === "continuation" ? { fruitless: (state.goal?.fruitless ?? 0) + 1 } : {};
  return withGoal(state, { news: null, ...after });
}

function changed(state: ThreadState, record: GoalChanged): GoalState {
  const { goal, countedUntil, turnId, deferred } = record;
  const before = state.goal;
  const reworded = before !== null && before.goal.objective !== goal.objective;
  const limited = goal.status === "budgetLimited" && before?.goal.status !== "budgetLimited";
  const stillNew = before?.news === "budget" && goal.status !== "budgetLimited" ? null : before?.news;
  return {
    goal,
    countedUntil,
    held: turnId === null ? false : (before?.held ?? false),
    deferred: deferred ?? before?.deferred ?? false,
    news: limited
      ? "budget"
      : reworded && state.turn !== null && goal.status === "active"
        ? "objective"
        : (stillNew ?? null),
    fruitless: turnId === null ? 0 : (before?.fruitless ?? 0),
    endedIn: goal.status === "active" ? null : turnId,
  };
}

// How a turn changes the goal, besides its tokens and time.

export function goalAtTurn(state: ThreadState, { at, input }: OfTurn<"turnStarted">): ThreadState {
  if (state.goal === null) return state;
  const { fruitless, countedUntil, goal } = state.goal;
  const runs = goal.status === "active" || goal.status === "budgetLimited";
  return withGoal(state, {
    countedUntil: runs ? (countedUntil ?? at) : null,
    held: false,
    deferred: false,
    fruitless: input.length > 0 ? 0 : fruitless,
  });
}

export function goalAfterCall(state: ThreadState): ThreadState {
  return withGoal(state, { fruitless: 0 });
}

export function goalAtSample(state: ThreadState): ThreadState {
  return state.goal === null || state.goal.endedIn === null ? state : withGoal(state, { endedIn: null });
}

export function goalAfterTurn(state: ThreadState, { status }: OfTurn<"turnEnded">): ThreadState {
  if (state.goal === null) return state;
  const { goal, countedUntil, news } = state.goal;
  return withGoal(state, {
    countedUntil: goal.status === "active" ? countedUntil : null,
    held: status === "interrupted",
    // A new objective needs no message: the next turn that the host starts for the goal contains the objective.
    news: news === "objective" ? null : news,
  });
}

/** A load resumes the goal. The time without a load does not count as time used. */
export function foldGoalOpened(goal: GoalState | null, at: number): GoalState | null {
  if (goal === null) return null;
  return { ...goal, held: false, countedUntil: goal.goal.status === "active" ? at : null };
}

export function foldGoalAdopted(goal: GoalState | null, at: number): GoalState | null {
  return goal?.countedUntil == null ? goal : { ...goal, countedUntil: at };
}

export function withGoal(state: ThreadState, changes: Partial<GoalState>): ThreadState {
  return state.goal === null ? state : { ...state, goal: { ...state.goal, ...changes } };
}
