import type { ThreadState } from "../state.ts";
import type { TurnRecord } from "../turn/records.ts";
import type { GoalRecord, GoalState } from "./records.ts";

export function foldGoal(state: ThreadState, record: GoalRecord): ThreadState {
  switch (record.type) {
    case "goalChanged":
      return {
        ...state,
        preview: state.preview || record.goal.objective,
        goal: changed(state, record),
      };
    case "goalCleared":
      return { ...state, goal: null };
    case "goalContext": {
      const { about } = record;
      const after = about === "continuation" ? { fruitless: (state.goal?.fruitless ?? 0) + 1 } : {};
      return withGoal(state, { news: null, ...after });
    }
    case "goalTakenUp":
      return withGoal(state, { held: false });
  }
}

function changed(state: ThreadState, record: Extract<GoalRecord, { type: "goalChanged" }>): GoalState {
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

/** What turns do to a goal besides what they use. */
export function foldGoalTurn(state: ThreadState, record: TurnRecord): ThreadState {
  if (state.goal === null) return state;
  switch (record.type) {
    case "turnStarted": {
      const { fruitless, countedUntil, goal } = state.goal;
      const runs = goal.status === "active" || goal.status === "budgetLimited";
      return withGoal(state, {
        countedUntil: runs ? (countedUntil ?? record.at) : null,
        held: false,
        deferred: false,
        fruitless: record.input.length > 0 ? 0 : fruitless,
      });
    }
    case "toolCalled":
      return withGoal(state, { fruitless: 0 });
    case "sampleRequested":
      return state.goal.endedIn === null ? state : withGoal(state, { endedIn: null });
    case "turnEnded":
      return withGoal(state, {
        countedUntil: state.goal.goal.status === "active" ? state.goal.countedUntil : null,
        held: record.status === "interrupted",
        // What it begins next by itself says it.
        news: state.goal.news === "objective" ? null : state.goal.news,
      });
    default:
      return state;
  }
}

/** A load is a new beginning, and the time in between is nobody's. */
export function foldGoalOpened(goal: GoalState | null, at: number): GoalState | null {
  if (goal === null) return null;
  return { ...goal, held: false, countedUntil: goal.goal.status === "active" ? at : null };
}

export function foldGoalAdopted(goal: GoalState | null, at: number): GoalState | null {
  return goal?.countedUntil == null ? goal : { ...goal, countedUntil: at };
}

function withGoal(state: ThreadState, changes: Partial<GoalState>): ThreadState {
  return state.goal === null ? state : { ...state, goal: { ...state.goal, ...changes } };
}
