import type { ThreadGoalStatus } from "@bobbin/protocol";
import { type Fault, fault } from "../../errors.ts";
import { isPlanning } from "../life/collaboration-modes.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import type { GoalCommand } from "./commands.ts";
import { statusWithin, withTime } from "./goal-accounting.ts";
import { goalContinuation } from "./goal-prompts.ts";
import type { Goal } from "./records.ts";

/** Limit on the characters of an objective. */
const MAX_OBJECTIVE = 4000;

/** Decides commands about the thread's goal. */
export function decideGoal(state: ThreadState, command: GoalCommand): readonly ThreadRecord[] | Fault {
  const { at } = command;
  switch (command.kind) {
    case "setGoal":
      return state.goal === null ? create(command, null, state) : change(state, command);
    case "createGoal":
      if (state.turn?.id !== command.turnId) return [];
      if (state.goal !== null && state.goal.goal.status !== "complete") return fault("goalUnfinished");
      return create(command, command.turnId, state);
    case "finishGoal":
      return finish(state, command);
    case "clearGoal":
      return state.goal === null ? [] : [{ type: "goalCleared", at }];
    case "continueGoal": {
      const { goal, turn, settings } = state;
      const { turnId } = command;
      if (turn !== null || goal?.goal.status !== "active" || goal.held || goal.deferred) return [];
      // Nothing is done in Plan mode before the user has accepted the plan.
      if (isPlanning(settings)) return [];
      return [
        { type: "turnStarted", turnId, at, input: [], outputSchema: null },
        { type: "goalContext", at, turnId, about: "continuation", text: goalContinuation(goal.goal) },
        { type: "sampleRequested", turnId, attempt: 1 },
      ];
    }
    case "takeUpGoal":
      return state.goal?.held && state.goal.goal.status === "active" && state.turn === null
        ? [{ type: "goalTakenUp", at }]
        : [];
  }
}

type SetGoal = Extract<GoalCommand, { kind: "setGoal" }>;
type CreateGoal = Extract<GoalCommand, { kind: "createGoal" }>;

function create(
  command: SetGoal | CreateGoal,
  turnId: string | null,
  { facts }: ThreadState,
): readonly ThreadRecord[] | Fault {
  const { at, maxBudget } = command;
  const objective = command.objective?.trim();
  if (objective === undefined) return fault("noGoal", facts.id);
  const tokenBudget = command.tokenBudget ?? maxBudget;
  const refusal = badObjective(objective) ?? badBudget(tokenBudget, maxBudget);
  if (refusal !== undefined) return refusal;
  const requestedStatus = command.kind === "setGoal" ? command.status : undefined;
  const status = statusWithin(requestedStatus ?? "active", 0, tokenBudget);
  const used = { tokensUsed: 0, timeUsedSeconds: 0 };
  const goal: Goal = { objective, status, tokenBudget, ...used, createdAt: at, updatedAt: at };
  return [{ type: "goalChanged", at, turnId, goal, countedUntil: status === "active" ? at : null }];
}

function change(state: ThreadState, command: SetGoal): readonly ThreadRecord[] | Fault {
  const { at, maxBudget } = command;
  const before = state.goal!;
  const timed = withTime(before.goal, before.countedUntil, at);
  const objective = command.objective?.trim() ?? before.goal.objective;
  // Null removes the goal's own budget. The configured maximum then applies.
  const newBudget = command.tokenBudget === undefined ? undefined : (command.tokenBudget ?? maxBudget);
  const refusal =
    badObjective(objective) ?? (newBudget === undefined ? undefined : badBudget(newBudget, maxBudget));
  if (refusal !== undefined) return refusal;
  const tokenBudget = newBudget === undefined ? before.goal.tokenBudget : newBudget;
  const wanted = statusChange(before.goal.status, command.status);
  const status = statusWithin(wanted, before.goal.tokensUsed, tokenBudget);
  const goal: Goal = { ...timed.goal, objective, tokenBudget, status, updatedAt: at };
  const countedUntil = status === "active" ? (timed.countedUntil ?? at) : null;
  return [{ type: "goalChanged", at, turnId: null, goal, countedUntil }];
}

function finish(
  state: ThreadState,
  { at, turnId, status }: Extract<GoalCommand, { kind: "finishGoal" }>,
): readonly ThreadRecord[] | Fault {
  if (state.turn?.id !== turnId) return [];
  if (state.goal === null) return fault("noGoalToFinish");
  const { goal } = withTime(state.goal.goal, state.goal.countedUntil, at);
  const changed = { ...goal, status: statusChange(goal.status, status), updatedAt: at };
  return [{ type: "goalChanged", at, turnId, goal: changed, countedUntil: null }];
}

/**
 * The status that results from a request to change it. A goal without remaining budget cannot be paused or blocked.
 */
function statusChange(now: ThreadGoalStatus, wanted: ThreadGoalStatus | undefined): ThreadGoalStatus {
  if (wanted === undefined) return now;
  return now === "budgetLimited" && (wanted === "paused" || wanted === "blocked") ? now : wanted;
}

function badObjective(objective: string): Fault | undefined {
  if (objective === "") return fault("goalEmpty");
  return Array.from(objective).length > MAX_OBJECTIVE ? fault("goalTooLong", MAX_OBJECTIVE) : undefined;
}

function badBudget(budget: number | null, most: number | null): Fault | undefined {
  if (budget !== null && budget <= 0) return fault("goalBudget");
  return budget !== null && most !== null && budget > most
    ? fault("goalBudgetTooLarge", budget, most)
    : undefined;
}
