import { refusal, type Tool } from "../tool.ts";

const parameters = {
  type: "object",
  properties: {
    tool_call_id: { type: "string", description: "The id of the call that began the subscription." },
  },
  required: ["tool_call_id"],
  additionalProperties: false,
};

/** The tool `cancel_subscription`: ends a subscription that a tool call of this thread started. */
export const cancelSubscription: Tool = {
  name: "cancel_subscription",
  namespace: null,
  parameters,
  spec: {
    kind: "function",
    name: "cancel_subscription",
    namespace: null,
    description:
      "Ends a subscription that a call of a tool began in this conversation: no more events come of it.",
    parameters,
    strict: false,
  },
  begin({ thread, args }) {
    const { tool_call_id: callId } = args as { tool_call_id: string };
    if (!thread.rap.subscriptions.some((subscription) => subscription.callId === callId))
      return refusal(`Error: This conversation has no subscription of the call ${callId.slice(0, 200)}.`);
    return {
      kind: "settle",
      output: `The subscription of the call ${callId} is cancelled.`,
      success: true,
      unsubscribe: callId,
    };
  },
};
