import type { TurnPlanStep } from "@bobbin/protocol";
import { isPlanning } from "../core/life/modes.ts";
import { refusal, type Tool, type ToolSource } from "./tool.ts";

const STATUS: Readonly<Record<string, TurnPlanStep["status"]>> = {
  pending: "pending",
  in_progress: "inProgress",
  completed: "completed",
};

const parameters = {
  type: "object",
  properties: {
    explanation: { type: "string", description: "Why the plan changes, where that is not plain." },
    plan: {
      type: "array",
      description: "All steps in their order.",
      items: {
        type: "object",
        properties: {
          step: { type: "string", description: "What is to be done, in a few words." },
          status: { type: "string", enum: Object.keys(STATUS) },
        },
        required: ["step", "status"],
        additionalProperties: false,
      },
    },
  },
  required: ["plan"],
  additionalProperties: false,
};

interface Plan {
  readonly explanation?: string;
  readonly plan: readonly { readonly step: string; readonly status: string }[];
}

/** A checklist is for those who do something: while a plan is made, or work is reviewed, it is not offered. */
export const planTools: ToolSource = {
  tools({ settings, turn }) {
    if (isPlanning(settings)) return [notNow("Plan mode. Propose the plan in a <proposed_plan> block.")];
    return turn?.kind === "review" ? [notNow("a review.")] : [updatePlan];
  },
};

function notNow(where: string): Tool {
  const why = `update_plan is a checklist of work that is being done, and can not be used in ${where}`;
  return { ...updatePlan, spec: null, begin: () => refusal(why) };
}

/** `update_plan`: the model says what it is going to do, and how far it is. */
const updatePlan: Tool = {
  name: "update_plan",
  namespace: null,
  parameters,
  spec: {
    kind: "function",
    name: "update_plan",
    namespace: null,
    description:
      "Shows the user the steps of a longer task and which of them are done. Give all steps each time, with at most one in progress.",
    parameters,
    strict: false,
  },
  begin({ args }) {
    const { explanation, plan } = args as Plan;
    const steps = plan.map(({ step, status }) => ({ step, status: STATUS[status]! }));
    return {
      kind: "settle",
      output: "Plan updated",
      success: true,
      plan: { explanation: explanation ?? null, steps },
    };
  },
};
