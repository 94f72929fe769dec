import { Fault } from "../../errors.ts";
import type { GoalCommand } from "../commands.ts";
import { fold } from "../fold.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { decideGoal } from "./decide.ts";
import { goalView } from "./views.ts";

/** What a tool call does to the goal, and what the model hears of it. */
export function goalCall(
  state: ThreadState,
  command: GoalCommand,
): { readonly goal: readonly ThreadRecord[]; readonly output: string; readonly success: boolean } {
  const goal = decideGoal(state, command);
  if (goal instanceof Fault) return { goal: [], output: goal.message, success: false };
  return { goal, output: goalAnswer(goal.reduce(fold, state)), success: true };
}

export function goalAnswer({ facts, goal }: ThreadState): string {
  if (goal === null) return JSON.stringify({ goal: null, remainingTokens: null });
  const { tokenBudget, tokensUsed } = goal.goal;
  const remainingTokens = tokenBudget === null ? null : Math.max(0, tokenBudget - tokensUsed);
  return JSON.stringify({ goal: goalView(facts.id, goal.goal), remainingTokens });
}
