import type { ThreadGoalStatus } from "@bobbin/protocol";

export type GoalRecord =
  /** The goal was set or updated. `turnId`: the turn that changed it; null if a client did. */
  | {
      readonly type: "goalChanged";
      readonly at: number;
      readonly turnId: string | null;
      readonly goal: Goal;
      /** The time until which `timeUsedSeconds` includes all work; null while no turn works on the goal. */
      readonly countedUntil: number | null;
      /** A fork copied the goal. The goal does not continue by itself before the next turn. */
      readonly deferred?: boolean;
    }
  | { readonly type: "goalCleared"; readonly at: number }
  /** A text about the goal for the model. Clients do not get it. */
  | {
      readonly type: "goalContext";
      readonly at: number;
      readonly turnId: string;
      readonly about: GoalNews | "continuation";
      readonly text: string;
    }
  /** Lets the goal continue although the last turn was interrupted. */
  | { readonly type: "goalTakenUp"; readonly at: number };

/** The goal of a thread, over any number of turns. Times are in milliseconds. */
export interface Goal {
  readonly objective: string;
  readonly status: ThreadGoalStatus;
  readonly tokenBudget: number | null;
  readonly tokensUsed: number;
  readonly timeUsedSeconds: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A change that the model must be informed of: a new objective, or a used-up budget. */
export type GoalNews = "objective" | "budget";

export interface GoalState {
  readonly goal: Goal;
  readonly countedUntil: number | null;
  /** Whether the last turn was interrupted, after which the goal does not continue by itself. */
  readonly held: boolean;
  readonly deferred: boolean;
  /** A change that the model was not informed of yet. */
  readonly news: GoalNews | null;
  /** The number of consecutive turns that the host started for the goal and that called no tool. */
  readonly fruitless: number;
  /** The turn in which the model has just ended the goal. The tokens of the ending model call still count. */
  readonly endedIn: string | null;
}
