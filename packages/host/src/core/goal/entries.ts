import { boolean, enumeration, nullable, omittable, string } from "@bobbin/protocol/schema";
import { silent, toSubscribers } from "../notification.ts";
import { fields } from "../record-check.ts";
import type { RecordEntries } from "../record-entry.ts";
import { time } from "../shapes.ts";
import { foldGoalChanged, foldGoalContext, withGoal } from "./fold.ts";
import type { GoalRecord } from "./records.ts";
import { GOAL } from "./shapes.ts";
import { goalView } from "./views.ts";

/** A fork that takes the goal gets it as a record of its own. */
export const GOAL_RECORDS: RecordEntries<GoalRecord> = {
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
