import type { ThreadGoalStatus } from "@bobbin/protocol";

/** Commands about the goal of a thread. */
export type GoalCommand =
  /** Sets the goal; undefined fields stay. `tokenBudget` null: no budget. `maxBudget`: the configured limit, or null. */
  | {
      readonly kind: "setGoal";
      readonly at: number;
      readonly objective: string | undefined;
      readonly status: ThreadGoalStatus | undefined;
      readonly tokenBudget: number | null | undefined;
      readonly maxBudget: number | null;
    }
  | { readonly kind: "clearGoal"; readonly at: number }
  /** The model creates a goal during a turn. */
  | {
      readonly kind: "createGoal";
      readonly at: number;
      readonly turnId: string;
      readonly objective: string;
      readonly tokenBudget: number | null;
      readonly maxBudget: number | null;
    }
  | {
      readonly kind: "finishGoal";
      readonly at: number;
      readonly turnId: string;
      readonly status: "complete" | "blocked";
    }
  /** The host starts a turn for the goal. */
  | { readonly kind: "continueGoal"; readonly at: number; readonly turnId: string }
  /** A client has connected again, so an interrupted goal continues. */
  | { readonly kind: "takeUpGoal"; readonly at: number };
