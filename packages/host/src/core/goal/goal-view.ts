import type { ThreadGoal } from "@bobbin/protocol";
import { seconds } from "../whole-seconds.ts";
import type { Goal } from "./records.ts";

export function goalView(threadId: string, goal: Goal): ThreadGoal {
  const { objective, status, tokenBudget, tokensUsed, timeUsedSeconds } = goal;
  return {
    threadId,
    objective,
    status,
    tokenBudget,
    tokensUsed,
    timeUsedSeconds,
    createdAt: seconds(goal.createdAt),
    updatedAt: seconds(goal.updatedAt),
  };
}
