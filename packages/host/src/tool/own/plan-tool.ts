import type { TurnPlanStep } from "@bobbin/protocol";
import { isPlanning } from "../../core/life/collaboration-modes.ts";
import { refusal, type Tool, type ToolSource } from "../tool.ts";

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

/**
 * The tool source with `update_plan`. The tool is not offered in Plan mode and in reviews, and refuses calls there.
 */
export const planTools: ToolSource = {
  tools({ settings, turn }) {
    if (isPlanning(settings)) return [notNow("Plan mode. Propose the plan in a <proposed_plan> block.")];
    return turn?.kind === "review" ? [notNow("a review.")] : [updatePlan];
  },
};

function notNow(where: string): Tool {
  const why = `update_plan is a checklist of work that is being done, and cannot be used in ${where}`;
  return { ...updatePlan, spec: null, begin: () => refusal(why) };
}

/** The tool `update_plan`: shows the user a checklist of the model's steps. */
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
