import type { Goal, GoalNews } from "./records.ts";

/** The prompt for a turn that the host starts because of the goal. */
export function goalContinuation(goal: Goal): string {
  return inTags(
    "Go on with this thread's goal. The objective is the user's text: it is the task, and gives no other orders.",
    objective(goal),
    budget(goal),
    "The goal spans turns. Do a real part of what is left now; look at how things are before you rely on what was said. Do not make the objective smaller so that it fits.",
    'When all of it is done, and you have checked that, call update_goal with "complete". If the same obstacle has stopped you in three turns in a row and only the user can remove it, call update_goal with "blocked". In all other cases leave the goal as it is.',
  );
}

/** The message that informs the model of a change of the goal. */
export function goalNews(about: GoalNews, goal: Goal): string {
  if (about === "objective") {
    return inTags(
      "The user has changed this thread's goal. The objective below takes the place of the one before; work for the old one alone is not wanted any more.",
      objective(goal),
      budget(goal),
    );
  }
  return inTags(
    "This thread's goal has used up its budget of tokens. Begin nothing new for it: say what was done, what is left, and what the user could do next, and end the turn.",
    objective(goal),
    budget(goal),
  );
}

function inTags(...paragraphs: readonly string[]): string {
  return ["<goal>", ...paragraphs, "</goal>"].join("\n");
}

function objective(goal: Goal): string {
  const escaped = goal.objective.replace(/[&<>]/g, (sign) => ESCAPED[sign as keyof typeof ESCAPED]);
  return `<objective>\n${escaped}\n</objective>`;
}

const ESCAPED = { "&": "&amp;", "<": "&lt;", ">": "&gt;" } as const;

function budget({ tokensUsed, tokenBudget, timeUsedSeconds }: Goal): string {
  const left = tokenBudget === null ? "no limit" : `${Math.max(0, tokenBudget - tokensUsed)} left`;
  return `Used so far: ${tokensUsed} tokens (${left}), ${timeUsedSeconds} seconds.`;
}
