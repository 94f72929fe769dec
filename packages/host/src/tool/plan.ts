import type { TurnPlanStep } from "@bobbin/protocol";
import type { Tool } from "./tool.ts";

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

/** `update_plan`: the model says what it is going to do, and how far it is. */
export const updatePlan: Tool = {
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
