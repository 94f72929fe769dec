import {
  array,
  boolean,
  enumeration,
  filePath,
  nullable,
  object,
  omittable,
  optional,
  record,
  type Static,
  string,
} from "../schema-language.ts";
import { UserInput } from "./turn-input.ts";

export const PromptSource = enumeration("PromptSource", ["user", "project"]);
export type PromptSource = Static<typeof PromptSource>;

export const SavedPrompt = object("SavedPrompt", () => ({
  name: string(),
  description: nullable(string()),
  argumentHint: nullable(string()),
  source: PromptSource,
  path: string(),
}));
export type SavedPrompt = Static<typeof SavedPrompt>;

export const PromptWarning = object("PromptWarning", () => ({ path: string(), message: string() }));
export type PromptWarning = Static<typeof PromptWarning>;

export const PromptsListParams = object("PromptsListParams", () => ({ cwd: optional(filePath()) }));
export type PromptsListParams = Static<typeof PromptsListParams>;

export const PromptsListResponse = object("PromptsListResponse", () => ({
  data: array(SavedPrompt),
  warnings: array(PromptWarning),
}));
export type PromptsListResponse = Static<typeof PromptsListResponse>;

export const PromptsReadParams = object("PromptsReadParams", () => ({
  name: string(),
  cwd: optional(filePath()),
}));
export type PromptsReadParams = Static<typeof PromptsReadParams>;

export const PromptsReadResponse = object("PromptsReadResponse", () => ({
  prompt: SavedPrompt,
  content: string(),
}));
export type PromptsReadResponse = Static<typeof PromptsReadResponse>;

export const McpPromptArgument = object("McpPromptArgument", () => ({
  name: string(),
  description: nullable(string()),
  required: boolean(),
}));
export type McpPromptArgument = Static<typeof McpPromptArgument>;

export const McpPrompt = object("McpPrompt", () => ({
  server: string(),
  name: string(),
  description: nullable(string()),
  arguments: array(McpPromptArgument),
}));
export type McpPrompt = Static<typeof McpPrompt>;

export const McpPromptWarning = object("McpPromptWarning", () => ({ server: string(), message: string() }));
export type McpPromptWarning = Static<typeof McpPromptWarning>;

export const McpServerPromptListParams = object("McpServerPromptListParams", () => ({ threadId: string() }));
export type McpServerPromptListParams = Static<typeof McpServerPromptListParams>;

export const McpServerPromptListResponse = object("McpServerPromptListResponse", () => ({
  data: array(McpPrompt),
  warnings: array(McpPromptWarning),
}));
export type McpServerPromptListResponse = Static<typeof McpServerPromptListResponse>;

export const McpServerPromptGetParams = object("McpServerPromptGetParams", () => ({
  threadId: string(),
  server: string(),
  name: string(),
  arguments: omittable(record(string())),
}));
export type McpServerPromptGetParams = Static<typeof McpServerPromptGetParams>;

export const McpServerPromptGetResponse = object("McpServerPromptGetResponse", () => ({
  input: array(UserInput),
}));
export type McpServerPromptGetResponse = Static<typeof McpServerPromptGetResponse>;
