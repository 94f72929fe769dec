import {
  boolean,
  enumeration,
  integer,
  nullable,
  object,
  optional,
  type Static,
  string,
} from "../schema-language.ts";
import { cursor } from "./cursor.ts";

export const ThreadGoal = object("ThreadGoal", () => ({
  createdAt: integer(),
  objective: string(),
  status: ThreadGoalStatus,
  threadId: string(),
  timeUsedSeconds: integer(),
  tokenBudget: nullable(integer()),
  tokensUsed: integer(),
  updatedAt: integer(),
}));
export type ThreadGoal = Static<typeof ThreadGoal>;

export const ThreadGoalClearParams = object("ThreadGoalClearParams", () => ({
  origin: optional(ThreadGoalMutationOrigin),
  threadId: string(),
}));
export type ThreadGoalClearParams = Static<typeof ThreadGoalClearParams>;

export const ThreadGoalClearResponse = object("ThreadGoalClearResponse", () => ({ cleared: boolean() }));
export type ThreadGoalClearResponse = Static<typeof ThreadGoalClearResponse>;

export const ThreadGoalClearedNotification = object("ThreadGoalClearedNotification", () => ({
  threadId: string(),
  ...cursor(),
}));
export type ThreadGoalClearedNotification = Static<typeof ThreadGoalClearedNotification>;

export const ThreadGoalGetParams = object("ThreadGoalGetParams", () => ({ threadId: string() }));
export type ThreadGoalGetParams = Static<typeof ThreadGoalGetParams>;

export const ThreadGoalGetResponse = object("ThreadGoalGetResponse", () => ({ goal: nullable(ThreadGoal) }));
export type ThreadGoalGetResponse = Static<typeof ThreadGoalGetResponse>;

export const ThreadGoalMutationOrigin = enumeration("ThreadGoalMutationOrigin", ["user", "automatic"]);
export type ThreadGoalMutationOrigin = Static<typeof ThreadGoalMutationOrigin>;

export const ThreadGoalSetParams = object("ThreadGoalSetParams", () => ({
  objective: optional(string()),
  origin: optional(ThreadGoalMutationOrigin),
  status: optional(ThreadGoalStatus),
  threadId: string(),
  tokenBudget: optional(integer()),
}));
export type ThreadGoalSetParams = Static<typeof ThreadGoalSetParams>;

export const ThreadGoalSetResponse = object("ThreadGoalSetResponse", () => ({ goal: ThreadGoal }));
export type ThreadGoalSetResponse = Static<typeof ThreadGoalSetResponse>;

export const ThreadGoalStatus = enumeration("ThreadGoalStatus", [
  "active",
  "paused",
  "blocked",
  "usageLimited",
  "budgetLimited",
  "complete",
]);
export type ThreadGoalStatus = Static<typeof ThreadGoalStatus>;

export const ThreadGoalUpdatedNotification = object("ThreadGoalUpdatedNotification", () => ({
  goal: ThreadGoal,
  threadId: string(),
  turnId: nullable(string()),
  ...cursor(),
}));
export type ThreadGoalUpdatedNotification = Static<typeof ThreadGoalUpdatedNotification>;
