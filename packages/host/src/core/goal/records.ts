import type { ThreadGoalStatus } from "@bobbin/protocol";

export type GoalRecord =
  /** `turnId`: the turn whose work it comes of, or null if someone set it. */
  | {
      readonly type: "goalChanged";
      readonly at: number;
      readonly turnId: string | null;
      readonly goal: Goal;
      /** Up to when its time is counted; null while it does not run. */
      readonly countedUntil: number | null;
      /** It is another thread's, and waits for the next turn here. */
      readonly deferred?: boolean;
    }
  | { readonly type: "goalCleared"; readonly at: number }
  /** Something for the model to know about the goal; nobody else is shown it. */
  | {
      readonly type: "goalContext";
      readonly at: number;
      readonly turnId: string;
      readonly about: GoalNews | "continuation";
      readonly text: string;
    }
  /** It goes on although the last turn was interrupted. */
  | { readonly type: "goalTakenUp"; readonly at: number };

/** What a thread is to reach, over as many turns as that takes. Times are milliseconds. */
export interface Goal {
  readonly objective: string;
  readonly status: ThreadGoalStatus;
  readonly tokenBudget: number | null;
  readonly tokensUsed: number;
  readonly timeUsedSeconds: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type GoalNews = "objective" | "budget";

export interface GoalState {
  readonly goal: Goal;
  readonly countedUntil: number | null;
  /** The last turn was interrupted: it does not go on by itself. */
  readonly held: boolean;
  readonly deferred: boolean;
  /** What the model has not been told. */
  readonly news: GoalNews | null;
  /** Turns in a row that it began by itself, and in which no tool was called. */
  readonly fruitless: number;
  /** The turn in which the model has just ended it: what it took to say so is the goal's, too. */
  readonly endedIn: string | null;
}
