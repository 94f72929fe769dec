import { boolean, enumeration, inline, integer, nullable, string } from "@bobbin/protocol/schema";
import { ThreadGoalStatus } from "@bobbin/protocol/types";
import { count, time } from "../number-schemas.ts";

export const GOAL = inline(() => ({
  objective: string(),
  status: ThreadGoalStatus,
  tokenBudget: nullable(integer()),
  tokensUsed: integer(),
  timeUsedSeconds: integer(),
  createdAt: time(),
  updatedAt: time(),
}));

export const GOAL_STATE = inline(() => ({
  goal: GOAL,
  countedUntil: nullable(time()),
  held: boolean(),
  deferred: boolean(),
  news: nullable(enumeration("", ["objective", "budget"])),
  fruitless: count(),
  endedIn: nullable(string()),
}));
