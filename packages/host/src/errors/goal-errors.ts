/** Errors of goals. */
export const GOAL_ERRORS = {
  noGoal: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `cannot update goal for thread ${id}: no goal exists`,
  },
  goalEmpty: { wire: -32600, retryable: false, text: () => "goal objective must not be empty" },
  goalTooLong: {
    wire: -32600,
    retryable: false,
    text: (limit: number) => `goal objective must be at most ${limit} characters`,
  },
  goalBudget: { wire: -32600, retryable: false, text: () => "goal budgets must be positive when provided" },
  goalBudgetTooLarge: {
    wire: -32600,
    retryable: false,
    text: (budget: number, most: number) =>
      `goal token budget ${budget} exceeds the maximum allowed goal token budget of ${most}`,
  },
  goalUnfinished: {
    wire: -32600,
    retryable: false,
    text: () => "this thread has a goal that is not finished: finish that one first",
  },
  noGoalToFinish: { wire: -32600, retryable: false, text: () => "this thread has no goal" },
  ephemeralGoal: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `ephemeral thread does not support goals: ${id}`,
  },
  deferredEphemeral: {
    wire: -32600,
    retryable: false,
    text: () => "`deferGoalContinuation` cannot be combined with `ephemeral`",
  },
} as const;
