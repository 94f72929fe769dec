import { Fault } from "../../errors.ts";
import { fold } from "../fold.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import type { GoalCommand } from "./commands.ts";
import { decideGoal } from "./decide.ts";
import { goalView } from "./goal-view.ts";

/** The records and the output of a tool call that changes the goal. */
export function goalToolCall(
  state: ThreadState,
  command: GoalCommand,
): { readonly goal: readonly ThreadRecord[]; readonly output: string; readonly success: boolean } {
  const goal = decideGoal(state, command);
  if (goal instanceof Fault) return { goal: [], output: goal.message, success: false };
  return { goal, output: goalAnswer(goal.reduce(fold, state)), success: true };
}

/** The goal as JSON, as the output of goal tools. */
export function goalAnswer({ facts, goal }: ThreadState): string {
  if (goal === null) return JSON.stringify({ goal: null, remainingTokens: null });
  const { tokenBudget, tokensUsed } = goal.goal;
  const remainingTokens = tokenBudget === null ? null : Math.max(0, tokenBudget - tokensUsed);
  return JSON.stringify({ goal: goalView(facts.id, goal.goal), remainingTokens });
}
