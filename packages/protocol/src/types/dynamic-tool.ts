import {
  array,
  boolean,
  nullable,
  object,
  omittable,
  optional,
  refused,
  retired,
  type Static,
  string,
  tagged,
  union,
  unknown,
} from "../schema-language.ts";

export const DynamicToolCallOutputContentItem = tagged("DynamicToolCallOutputContentItem", "type", () => ({
  inputText: { text: string() },
  inputImage: { imageUrl: string() },
  inputAudio: { audioUrl: string() },
}));
export type DynamicToolCallOutputContentItem = Static<typeof DynamicToolCallOutputContentItem>;

export const DynamicToolCallParams = object("DynamicToolCallParams", () => ({
  arguments: unknown(),
  callId: string(),
  namespace: nullable(string()),
  threadId: string(),
  tool: string(),
  turnId: string(),
}));
export type DynamicToolCallParams = Static<typeof DynamicToolCallParams>;

export const DynamicToolCallResponse = object("DynamicToolCallResponse", () => ({
  contentItems: array(DynamicToolCallOutputContentItem),
  success: boolean(),
}));
export type DynamicToolCallResponse = Static<typeof DynamicToolCallResponse>;

export const DynamicToolInput = union("DynamicToolInput", () => [DynamicToolSpec, LegacyDynamicTool]);
export type DynamicToolInput = Static<typeof DynamicToolInput>;

const functionTool = () => ({
  deferLoading: omittable(boolean()),
  description: string(),
  inputSchema: unknown(),
  name: string(),
  exposeToContext: retired(),
  namespace: retired(),
});

export const DynamicToolNamespaceTool = tagged("DynamicToolNamespaceTool", "type", () => ({
  function: functionTool(),
}));
export type DynamicToolNamespaceTool = Static<typeof DynamicToolNamespaceTool>;

export const DynamicToolSpec = tagged("DynamicToolSpec", "type", () => ({
  function: functionTool(),
  namespace: { description: string(), name: string(), tools: array(DynamicToolNamespaceTool) },
}));
export type DynamicToolSpec = Static<typeof DynamicToolSpec>;

/** The older form of a dynamic tool, from before tools had a `type`. */
export const LegacyDynamicTool = object("LegacyDynamicTool", () => ({
  type: refused(),
  name: string(),
  description: string(),
  inputSchema: unknown(),
  namespace: optional(string()),
  deferLoading: optional(boolean()),
  exposeToContext: optional(boolean()),
}));
export type LegacyDynamicTool = Static<typeof LegacyDynamicTool>;
