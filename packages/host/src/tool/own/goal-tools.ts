import { goalAnswer } from "../../core/goal/goal-tool-call.ts";
import type { Invocation, Step, Tool, ToolSource } from "../tool.ts";

/**
 * The tools for a thread's goal: `get_goal`, `create_goal`, `update_goal`. Ephemeral threads and reviews have none.
 * `isOn`: whether a thread may have a goal.
 */
export function goalTools(maxBudget: number | null, isOn: (threadId: string) => boolean): ToolSource {
  const tools = [getGoal, createGoal(maxBudget), updateGoal];
  return {
    tools: ({ facts, turn }) => (facts.ephemeral || turn?.kind === "review" || !isOn(facts.id) ? [] : tools),
  };
}

function tool(
  name: string,
  description: string,
  schema: { readonly properties: object; readonly required: readonly string[] },
  begin: (invocation: Invocation) => Step,
): Tool {
  const parameters = { type: "object", ...schema, additionalProperties: false };
  const spec = { kind: "function", name, namespace: null, description, parameters, strict: false } as const;
  return { name, namespace: null, parameters, spec, begin };
}

const getGoal = tool(
  "get_goal",
  "Shows this thread's goal: objective, status, budget, and what was used.",
  { properties: {}, required: [] },
  ({ thread }) => ({ kind: "settle", output: goalAnswer(thread), success: true }),
);

const createGoal = (maxBudget: number | null): Tool =>
  tool(
    "create_goal",
    "Gives this thread a goal, which is pursued over several turns. Only when the user asks for a goal; not for an ordinary task. Fails while there is one that is not finished.",
    {
      properties: {
        objective: { type: "string", description: "What is to be reached, in the user's terms." },
        token_budget: {
          type: "integer",
          description: "How many tokens it may use. Only if the user named a budget.",
        },
      },
      required: ["objective"],
    },
    ({ args, now: at, turnId }) => {
      const { objective, token_budget: tokenBudget = null } = args as {
        objective: string;
        token_budget?: number;
      };
      return settled({ kind: "createGoal", at, turnId, objective, tokenBudget, maxBudget });
    },
  );

const updateGoal = tool(
  "update_goal",
  "Ends work on this thread's goal. `complete`: all of it is reached, and that was checked. `blocked`: the same obstacle has come up in three turns in a row, and only the user can remove it. Not because the work is hard, or the budget nearly used.",
  { properties: { status: { type: "string", enum: ["complete", "blocked"] } }, required: ["status"] },
  ({ args, now: at, turnId }) => {
    const { status } = args as { status: "complete" | "blocked" };
    return settled({ kind: "finishGoal", at, turnId, status });
  },
);

function settled(goal: NonNullable<Extract<Step, { kind: "settle" }>["goal"]>): Step {
  return { kind: "settle", output: "", success: true, goal };
}
