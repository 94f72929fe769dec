import type {
  DynamicToolCallOutputContentItem,
  DynamicToolCallResponse,
  FunctionCallOutputContentItem,
  ThreadItem,
} from "@bobbin/protocol";
import type { RequestAnswer } from "../../core/requests/records.ts";
import type { ThreadState } from "../../core/state.ts";
import { fault } from "../../errors.ts";
import { isRemote } from "../media.ts";
import { exactJson } from "../original-json-text.ts";
import type { SearchableTool } from "../search/tool-search.ts";
import type { Invocation, Step, Tool, ToolSource } from "../tool.ts";
import { type DynamicFunction, dynamicFunctions } from "./dynamic-spec.ts";

/**
 * The tool source for dynamic tools. A client names them when it starts the thread, and runs them when it gets a
 * request to do so.
 */
export const dynamicTools: ToolSource = {
  tools: (thread) => offerOf(thread).tools,
  searched: (thread) => offerOf(thread).searched,
};

interface Offer {
  readonly tools: readonly Tool[];
  readonly searched: readonly SearchableTool[];
}

/** What was made of a client's tools. They are one array as long as they stay the same. */
const offers = new WeakMap<object, Offer>();
const NOTHING: Offer = { tools: [], searched: [] };

function offerOf({ load: { dynamicTools: offered } }: ThreadState): Offer {
  if (offered == null) return NOTHING;
  const known = offers.get(offered);
  if (known !== undefined) return known;
  const functions = dynamicFunctions(offered);
  const offer = { tools: functions.map(dynamicTool), searched: functions.flatMap(searchable) };
  offers.set(offered, offer);
  return offer;
}

/** What a search knows of a function, if the model is not shown it at once. */
function searchable(offered: DynamicFunction): readonly SearchableTool[] {
  const { name, namespace, description, inputSchema, deferLoading } = offered;
  if (!deferLoading || namespace === null) return [];
  const { name: group, description: namespaceDescription } = namespace;
  return [
    { group, namespace: group, namespaceDescription, name, title: "", description, parameters: inputSchema },
  ];
}

function dynamicTool({ name, namespace, description, inputSchema, deferLoading }: DynamicFunction): Tool {
  return {
    name,
    namespace: namespace?.name ?? null,
    parameters: inputSchema,
    spec: {
      kind: "function",
      name,
      namespace: namespace?.name ?? null,
      namespaceDescription: namespace?.description,
      description,
      parameters: inputSchema,
      strict: false,
      ...(deferLoading && { deferred: true }),
    },
    begin(invocation) {
      const { thread, turnId, call, args } = invocation;
      return {
        kind: "ask",
        item: item(invocation, { status: "inProgress", contentItems: null, success: null }, null),
        ask: {
          method: "item/tool/call",
          params: {
            threadId: thread.facts.id,
            turnId,
            callId: call.callId,
            namespace: call.namespace,
            tool: call.name,
            arguments: args,
          },
        },
        argumentsJson: exactJson(call.arguments, args),
      };
    },
    heard: (invocation, _question, answer) => settle(invocation, responseOf(answer)),
  };
}

function settle(invocation: Invocation, { contentItems, success }: DynamicToolCallResponse): Step {
  const status = success ? "completed" : "failed";
  return {
    kind: "settle",
    success,
    output: contentItems.map(outputPart),
    item: item(invocation, { status, contentItems, success }, invocation.now),
  };
}

type Outcome = Pick<Extract<ThreadItem, { type: "dynamicToolCall" }>, "status" | "contentItems" | "success">;

function item(
  { call, args, startedAt }: Invocation,
  outcome: Outcome,
  completedAtMs: number | null,
): ThreadItem {
  return {
    type: "dynamicToolCall",
    id: call.callId,
    namespace: call.namespace,
    tool: call.name,
    arguments: args,
    ...outcome,
    durationMs: completedAtMs === null ? null : completedAtMs - startedAt,
    startedAtMs: startedAt,
    completedAtMs,
  };
}

function responseOf(answer: RequestAnswer): DynamicToolCallResponse {
  switch (answer.kind) {
    case "result": {
      const response = answer.result as DynamicToolCallResponse;
      const problem = response.contentItems.map(problemOf).find((found) => found !== undefined);
      return problem === undefined ? response : failure(problem);
    }
    case "failed":
      return failure(`The tool could not be run: ${answer.message}`);
    case "expired":
      return failure("The client that has this tool is not connected, and did not come back in time.");
    case "denied":
    case "cleared":
      return failure("The call was given up before it had an answer.");
  }
}

function failure(text: string): DynamicToolCallResponse {
  return { contentItems: [{ type: "inputText", text }], success: false };
}

/** Media must be inline, because the host fetches no URLs for models. */
function problemOf(part: DynamicToolCallOutputContentItem): string | undefined {
  if (part.type === "inputImage" && isRemote(part.imageUrl)) return fault("remoteImage").message;
  if (part.type === "inputAudio" && !/^data:/i.test(part.audioUrl)) {
    return "audio URLs must use an inline data URL";
  }
  return undefined;
}

function outputPart(part: DynamicToolCallOutputContentItem): FunctionCallOutputContentItem {
  switch (part.type) {
    case "inputText":
      return { type: "input_text", text: part.text };
    case "inputImage":
      return { type: "input_image", image_url: part.imageUrl } as FunctionCallOutputContentItem;
    case "inputAudio":
      return { type: "input_audio", audio_url: part.audioUrl } as FunctionCallOutputContentItem;
  }
}
