import { array, nullable, object, omittable, type Static, string, tagged } from "../schema-language.ts";
import { FunctionCallOutputBody, ImageDetail, MessagePhase } from "./item-part.ts";

export const ContentItem = tagged("ContentItem", "type", () => ({
  input_text: { text: string() },
  input_image: { detail: omittable(ImageDetail), image_url: string() },
  output_text: { text: string() },
}));
export type ContentItem = Static<typeof ContentItem>;

export const ReasoningItemReasoningSummary = tagged("ReasoningItemReasoningSummary", "type", () => ({
  summary_text: { text: string() },
}));
export type ReasoningItemReasoningSummary = Static<typeof ReasoningItemReasoningSummary>;

/** An item of a model's conversation, in the format of the Responses API: the kinds that this host sends. */
export const ResponseItem = tagged("ResponseItem", "type", () => ({
  message: {
    content: array(ContentItem),
    id: omittable(string()),
    phase: omittable(MessagePhase),
    role: string(),
  },
  reasoning: {
    encrypted_content: nullable(string()),
    id: omittable(string()),
    summary: array(ReasoningItemReasoningSummary),
  },
  function_call: {
    arguments: string(),
    call_id: string(),
    name: string(),
    namespace: omittable(string()),
  },
  function_call_output: { call_id: string(), output: FunctionCallOutputBody },
  custom_tool_call: { call_id: string(), input: string(), name: string() },
  custom_tool_call_output: { call_id: string(), output: FunctionCallOutputBody },
}));
export type ResponseItem = Static<typeof ResponseItem>;

export const RawResponseItemCompletedNotification = object("RawResponseItemCompletedNotification", () => ({
  item: ResponseItem,
  threadId: string(),
  turnId: string(),
}));
export type RawResponseItemCompletedNotification = Static<typeof RawResponseItemCompletedNotification>;
