import {
  array,
  boolean,
  enumeration,
  integer,
  nullable,
  object,
  optional,
  type Static,
  string,
  tagged,
  union,
  unknown,
} from "../schema-language.ts";

export const AgentMessageDelivery = enumeration("AgentMessageDelivery", ["async"]);
export type AgentMessageDelivery = Static<typeof AgentMessageDelivery>;

export const AgentMessageDisplay = object("AgentMessageDisplay", () => ({
  action: string(),
  blockType: optional(string()),
  checkTrustedContacts: optional(boolean()),
  cyberTrustedAccess: optional(boolean()),
}));
export type AgentMessageDisplay = Static<typeof AgentMessageDisplay>;

export const AgentMessageModeration = object("AgentMessageModeration", () => ({
  display: optional(AgentMessageDisplay),
  moderated: boolean(),
}));
export type AgentMessageModeration = Static<typeof AgentMessageModeration>;

export const AsyncUserInputQuestion = object("AsyncUserInputQuestion", () => ({
  options: nullable(array(string())),
  title: string(),
}));
export type AsyncUserInputQuestion = Static<typeof AsyncUserInputQuestion>;

export const CollabAgentState = object("CollabAgentState", () => ({
  message: nullable(string()),
  status: CollabAgentStatus,
}));
export type CollabAgentState = Static<typeof CollabAgentState>;

export const CollabAgentStatus = enumeration("CollabAgentStatus", [
  "pendingInit",
  "running",
  "interrupted",
  "completed",
  "errored",
  "shutdown",
  "notFound",
]);
export type CollabAgentStatus = Static<typeof CollabAgentStatus>;

export const CollabAgentTool = enumeration("CollabAgentTool", [
  "spawnAgent",
  "sendInput",
  "resumeAgent",
  "wait",
  "closeAgent",
  "sendMessage",
  "followupTask",
  "interruptAgent",
  "listAgents",
]);
export type CollabAgentTool = Static<typeof CollabAgentTool>;

export const CollabAgentToolCallStatus = enumeration("CollabAgentToolCallStatus", [
  "inProgress",
  "completed",
  "failed",
  "interrupted",
]);
export type CollabAgentToolCallStatus = Static<typeof CollabAgentToolCallStatus>;

export const CommandAction = tagged("CommandAction", "type", () => ({
  read: { command: string(), name: string(), path: string() },
  listFiles: { command: string(), path: nullable(string()) },
  search: { command: string(), path: nullable(string()), query: nullable(string()) },
  unknown: { command: string() },
}));
export type CommandAction = Static<typeof CommandAction>;

export const CommandExecutionSource = enumeration("CommandExecutionSource", [
  "agent",
  "userShell",
  "unifiedExecStartup",
  "unifiedExecInteraction",
]);
export type CommandExecutionSource = Static<typeof CommandExecutionSource>;

export const CommandExecutionStatus = enumeration("CommandExecutionStatus", [
  "inProgress",
  "completed",
  "failed",
  "declined",
]);
export type CommandExecutionStatus = Static<typeof CommandExecutionStatus>;

export const DynamicToolCallStatus = enumeration("DynamicToolCallStatus", [
  "inProgress",
  "completed",
  "failed",
]);
export type DynamicToolCallStatus = Static<typeof DynamicToolCallStatus>;

export const FileUpdateChange = object("FileUpdateChange", () => ({
  diff: string(),
  kind: PatchChangeKind,
  path: string(),
}));
export type FileUpdateChange = Static<typeof FileUpdateChange>;

export const FunctionCallOutputBody = union("FunctionCallOutputBody", () => [
  string(),
  array(FunctionCallOutputContentItem),
]);
export type FunctionCallOutputBody = Static<typeof FunctionCallOutputBody>;

export const FunctionCallOutputContentItem = tagged("FunctionCallOutputContentItem", "type", () => ({
  input_text: { text: string() },
  input_image: [
    { detail: optional(ImageDetail), image_url: string() },
    { detail: optional(ImageDetail), file_id: string() },
  ],
  input_audio: [{ audio_url: string() }, { file_id: string() }],
  encrypted_content: { encrypted_content: string() },
}));
export type FunctionCallOutputContentItem = Static<typeof FunctionCallOutputContentItem>;

export const HookPromptFragment = object("HookPromptFragment", () => ({
  hookRunId: string(),
  text: string(),
}));
export type HookPromptFragment = Static<typeof HookPromptFragment>;

export const ImageDetail = enumeration("ImageDetail", ["auto", "low", "high", "original"]);
export type ImageDetail = Static<typeof ImageDetail>;

export const ImageGenerationFailure = tagged("ImageGenerationFailure", "type", () => ({
  usageLimitExceeded: { limitId: string(), resetsAt: nullable(integer()) },
}));
export type ImageGenerationFailure = Static<typeof ImageGenerationFailure>;

export const ImageGenerationInputImage = object("ImageGenerationInputImage", () => ({
  path: string(),
  sha256: string(),
}));
export type ImageGenerationInputImage = Static<typeof ImageGenerationInputImage>;

export const McpAppDisplayMode = enumeration("McpAppDisplayMode", ["inline", "fullscreen"]);
export type McpAppDisplayMode = Static<typeof McpAppDisplayMode>;

export const McpAppUi = object("McpAppUi", () => ({
  preferredModelDisplayMode: McpAppDisplayMode,
  resourceUri: string(),
}));
export type McpAppUi = Static<typeof McpAppUi>;

export const McpToolCallAppContext = object("McpToolCallAppContext", () => ({
  actionName: nullable(string()),
  appName: nullable(string()),
  connectorId: string(),
  linkId: nullable(string()),
  resourceUri: nullable(string()),
}));
export type McpToolCallAppContext = Static<typeof McpToolCallAppContext>;

export const McpToolCallError = object("McpToolCallError", () => ({ message: string() }));
export type McpToolCallError = Static<typeof McpToolCallError>;

export const McpToolCallResult = object("McpToolCallResult", () => ({
  _meta: unknown(),
  content: array(unknown()),
  structuredContent: unknown(),
}));
export type McpToolCallResult = Static<typeof McpToolCallResult>;

export const McpToolCallStatus = enumeration("McpToolCallStatus", ["inProgress", "completed", "failed"]);
export type McpToolCallStatus = Static<typeof McpToolCallStatus>;

export const MemoryCitation = object("MemoryCitation", () => ({
  entries: array(MemoryCitationEntry),
  threadIds: array(string()),
}));
export type MemoryCitation = Static<typeof MemoryCitation>;

export const MemoryCitationEntry = object("MemoryCitationEntry", () => ({
  lineEnd: integer("uint32"),
  lineStart: integer("uint32"),
  note: string(),
  path: string(),
}));
export type MemoryCitationEntry = Static<typeof MemoryCitationEntry>;

export const MessagePhase = enumeration("MessagePhase", ["commentary", "partial_answer", "final_answer"]);
export type MessagePhase = Static<typeof MessagePhase>;

export const PatchApplyStatus = enumeration("PatchApplyStatus", [
  "inProgress",
  "completed",
  "failed",
  "declined",
]);
export type PatchApplyStatus = Static<typeof PatchApplyStatus>;

export const PatchChangeKind = tagged("PatchChangeKind", "type", () => ({
  add: {},
  delete: {},
  update: { move_path: nullable(string()) },
}));
export type PatchChangeKind = Static<typeof PatchChangeKind>;

export const SubAgentActivityKind = enumeration("SubAgentActivityKind", [
  "started",
  "interacted",
  "interrupted",
  "completed",
]);
export type SubAgentActivityKind = Static<typeof SubAgentActivityKind>;

export const WebSearchAction = tagged("WebSearchAction", "type", () => ({
  search: { queries: nullable(array(string())), query: nullable(string()) },
  openPage: { url: nullable(string()) },
  findInPage: { pattern: nullable(string()), url: nullable(string()) },
  other: {},
}));
export type WebSearchAction = Static<typeof WebSearchAction>;
