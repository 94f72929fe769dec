import type { ThreadItem } from "@bobbin/protocol";
import type { Invocation } from "../tool.ts";

type CollabItem = Extract<ThreadItem, { type: "collabAgentToolCall" }>;

/** The `collabAgentToolCall` item of a call that is in progress. */
export function helperItem(
  { thread, call, startedAt }: Invocation,
  tool: CollabItem["tool"],
  shown: Partial<Pick<CollabItem, "receiverThreadIds" | "prompt" | "model" | "reasoningEffort">> = {},
): CollabItem {
  return {
    type: "collabAgentToolCall",
    id: call.callId,
    tool,
    status: "inProgress",
    senderThreadId: thread.facts.id,
    receiverThreadIds: [],
    prompt: null,
    model: null,
    reasoningEffort: null,
    agentsStates: {},
    ...shown,
    startedAtMs: startedAt,
    completedAtMs: null,
  };
}
