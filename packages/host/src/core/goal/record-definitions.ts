import { boolean, enumeration, nullable, omittable, string } from "@bobbin/protocol/schema";
import { silent, toSubscribers } from "../notification.ts";
import { time } from "../number-schemas.ts";
import { fields } from "../record-check.ts";
import type { RecordTable } from "../record-table.ts";
import { foldGoalChanged, foldGoalContext, withGoal } from "./fold.ts";
import { goalView } from "./goal-view.ts";
import { GOAL } from "./record-field-schemas.ts";
import type { GoalRecord } from "./records.ts";

/** The records of goals. A fork that takes over the goal starts with a new `goalChanged` record. */
export const GOAL_RECORDS: RecordTable<GoalRecord> = {
  goalChanged: {
    version: 1,
    check: fields(() => ({
      at: time(),
      turnId: nullable(string()),
      goal: GOAL,
      countedUntil: nullable(time()),
      deferred: omittable(boolean()),
    })),
    fold: foldGoalChanged,
    notify: (threadId, { turnId, goal }) => [
      toSubscribers("thread/goal/updated", { threadId, turnId, goal: goalView(threadId, goal) }),
    ],
    durability: "written",
    inFork: "never",
  },
  goalCleared: {
    version: 1,
    check: fields(() => ({ at: time() })),
    fold: (state) => ({ ...state, goal: null }),
    notify: (threadId) => [toSubscribers("thread/goal/cleared", { threadId })],
    durability: "written",
    inFork: "never",
  },
  goalContext: {
    version: 1,
    check: fields(() => ({
      at: time(),
      turnId: string(),
      about: enumeration("", ["objective", "budget", "continuation"]),
      text: string(),
    })),
    fold: foldGoalContext,
    notify: silent,
    durability: "written",
    inFork: "withTurn",
  },
  goalTakenUp: {
    version: 1,
    check: fields(() => ({ at: time() })),
    fold: (state) => withGoal(state, { held: false }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
};
